// Package cardsign verifies and makes the signatures of agent cards: JSON Web
// Signatures (RFC 7515) in the flattened form with a detached payload, over the
// card's canonical JSON (RFC 8785), as A2A 1.0 has them in §8.4.
//
// # Whose word counts
//
// Only the user's keys are trusted: those of a file or of a JWKS's URL, or of these the one
// with a thumbprint (RFC 7638). A key in a signature's own header (jku, jwk) is not used.
//
// # What is signed
//
// The specification does not say whether empty and unknown members are signed, so
// signers differ. [Verifier.Verify] tries the forms that signers use, in the order of
// [Forms], which begins with those that leave out least. Trying is safe, because each
// form gives JSON: if one fits, the signed bytes are this card less what the form
// leaves out. [Verdict.LeftOut] reports that rest, and [Report.Card] is the card
// without it.
//
// [Keys] check what an agent signs beside its card: its pushes.
//
// Only internal/cli and internal/webhook import it, not what a library for Go programs
// needs.
//
// It starts no goroutine. [Keys] may be used by several: one fetches, the others wait for that.
package cardsign

// Package cardsign verifies and makes the signatures of agent cards: JSON Web
// Signatures (RFC 7515) in the flattened form with a detached payload, over the
// card's canonical JSON (RFC 8785), as A2A 1.0 has them in §8.4.
//
// # Whose word counts
//
// Only keys that the user named are trusted: from a file, from a JWKS URL, or
// pinned by their thumbprint (RFC 7638). What a signature's own header says of
// keys (jku, jwk, kid) is a hint: it never makes a key trusted.
//
// # What is signed
//
// The specification leaves open what becomes of empty members and of members that
// it does not know, so signers differ. [Verifier.Verify] tries the forms that are
// met in practice, in the order of [Forms], which begins with those that leave out
// least. A form is safe to try because its bytes are JSON again: whatever form
// fits, those bytes are this card less what the form leaves out. That rest is
// reported ([Verdict.LeftOut]), and the card without it is [Report.Card]. A
// signature that does not cover which credentials the card asks for is
// [Incomplete], which is not good enough for [Report.Err].
//
// The package is heavier than what the start of a bridge needs: only internal/cli
// names it.
package cardsign

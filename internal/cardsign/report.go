package cardsign

import (
	"errors"
	"fmt"
	"strings"
)

// A Status is what became of one signature.
type Status string

const (
	// Valid: a key that the user named made it, and it covers what the card says
	// of credentials.
	Valid Status = "valid"
	// Incomplete: a key that the user named made it, but its form leaves out
	// something that the card says of credentials.
	Incomplete Status = "incomplete"
	// Invalid: a key that the user named should have made it, and it does not fit.
	Invalid Status = "invalid"
	// UnknownKey: none of the keys that the user named made it.
	UnknownKey Status = "unknownKey"
	// Refused: it is none, or of a kind that proves nothing.
	Refused Status = "refused"
)

// A Verdict is what is found of one signature.
type Verdict struct {
	Status Status
	// Algorithm, KeyID and JKU are what the signature says of itself. Of these,
	// nothing is known to be true unless it is Valid.
	Algorithm, KeyID, JKU string
	// Key and Thumbprint are the user's key that made it: where it is from, and
	// its name. Form is how. They are empty unless it is Valid or Incomplete.
	Key, Thumbprint string
	Form            Form
	// LeftOut are the JSON pointers of the card's members that it does not
	// cover, sorted.
	LeftOut []string
	// Says is a sentence for people.
	Says string

	signed map[string]any
}

// A Report is what is found of a card's signatures, in the card's order.
type Report struct {
	Verdicts []Verdict
	// Problems are the keys that could not be had.
	Problems []error

	raw        []byte
	signatures any
}

// Signed returns the verdict that counts: a valid one that leaves out least, nil
// if there is none.
func (r *Report) Signed() *Verdict {
	var best *Verdict
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Status == Valid && (best == nil || len(v.LeftOut) < len(best.LeftOut)) {
			best = v
		}
	}
	return best
}

// Card returns what a valid signature vouches for: the card as it is, or without
// what the signature does not cover. It is nil if there is none.
func (r *Report) Card() []byte {
	v := r.Signed()
	switch {
	case v == nil:
		return nil
	case len(v.LeftOut) == 0:
		return r.raw
	}
	card := map[string]any{"signatures": r.signatures}
	for name, value := range v.signed {
		card[name] = value
	}
	return jcs().append(nil, card)
}

// Err is nil if a signature is valid, and says otherwise why the card is not to
// be trusted.
func (r *Report) Err() error {
	if r.Signed() != nil {
		return nil
	}
	if len(r.Verdicts) == 0 {
		return &UntrustedError{"the card is not signed"}
	}
	var why []string
	for i, v := range r.Verdicts {
		text := v.Says
		if len(r.Verdicts) > 1 {
			text = fmt.Sprintf("signature %d: %s", i+1, text)
		}
		why = append(why, text)
	}
	if err := errors.Join(r.Problems...); err != nil {
		why = append(why, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return &UntrustedError{"no signature of the card can be relied on: " + strings.Join(why, "; ")}
}

// An UntrustedError says why a card is refused.
type UntrustedError struct{ text string }

func (e *UntrustedError) Error() string { return e.text }

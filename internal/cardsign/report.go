package cardsign

import (
	"errors"
	"fmt"
	"strings"
)

// A Status is the result for one signature.
type Status string

const (
	// Valid: one of the user's keys made it. What it leaves out is not used.
	Valid Status = "valid"
	// Invalid: one of the user's keys should have made it, but does not verify it.
	Invalid Status = "invalid"
	// UnknownKey: none of the user's keys made it.
	UnknownKey Status = "unknownKey"
	// Refused: it is malformed, or of a kind that proves nothing.
	Refused Status = "refused"
)

// A Verdict is the result for one signature.
type Verdict struct {
	Status Status
	// Algorithm, KeyID and JKU come from the signature itself. Unless it is Valid, they
	// may be false.
	Algorithm, KeyID, JKU string
	// Key and Thumbprint tell which of the user's keys made it: its source, and its name.
	// Form is the form. They are empty unless it is Valid.
	Key, Thumbprint string
	Form            Form
	// LeftOut are the JSON pointers of the members that it does not cover, sorted.
	LeftOut []string
	// Says is a sentence for people.
	Says string

	signed map[string]any
}

// A Report is the result for a card's signatures, in the card's order.
type Report struct {
	Verdicts []Verdict
	// Problems are errors of keys that could not be read.
	Problems []error

	raw        []byte
	signatures any
}

// Signed returns the deciding verdict: the valid one that leaves out least, nil if
// there is none.
func (r *Report) Signed() *Verdict {
	var best *Verdict
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Status == Valid && (best == nil || len(v.LeftOut) < len(best.LeftOut)) {
			best = v
		}
	}
	return best
}

// Card returns what a valid signature covers: the card, or the card without the rest.
// It is nil without a valid signature.
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
	return canonical(card)
}

// Err is nil if a signature is valid; otherwise it tells why the card is not trusted.
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

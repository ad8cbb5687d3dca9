package cardsign

import "slices"

// A Form is a way to derive the signed bytes from a card.
type Form struct {
	// Name is the form's name in reports and for card sign.
	Name string
	// Says tells people who signs so, and what is left out.
	Says string
	// Loose forms leave out empty or default values, so that nobody can tell whether the
	// signed card had them.
	Loose bool

	prune  pruner // what is left out
	python bool   // it is not written in RFC 8785
}

// Forms that have a name here.
const (
	FormAsServed      = "as-served"
	FormSpecification = "specification"
	FormSDK           = "sdk"
)

// Forms are the forms in use, in the order in which they are tried. Those that leave
// out least come first.
func Forms() []Form {
	sdk := pruner{known: true, defaults: true, empty: true}
	return []Form{
		{FormAsServed, "all members", false, pruner{}, false},
		{FormSpecification, "as A2A 1.0 §8.4.1 has it: without default values", true, pruner{defaults: true}, false},
		{"known", "the members of A2A 1.0, without those that are added for A2A 0.3 (a2a-go's servers of both)", false, pruner{known: true}, false},
		{"non-empty", "without empty members (a2a-js, of a card in its own types)", true, pruner{empty: true}, false},
		{FormSDK, "as a2a-js does, and a2a-python since August 2026: the members of A2A 1.0 that are not empty", true, sdk, false},
		{"sdk-python", "as a2a-python did before August 2026: the members of A2A 1.0 that are not empty, but not in RFC 8785", true, sdk, true},
	}
}

func formNamed(name string) (Form, bool) {
	for _, f := range Forms() {
		if f.Name == name {
			return f, true
		}
	}
	return Form{}, false
}

// bytes returns the signed bytes of a card whose signatures were removed, the part of the
// card that they are of, and the JSON pointers of the rest. It does not change the card.
func (f Form) bytes(card map[string]any) (payload []byte, signed map[string]any, leftOut []string) {
	p := f.prune
	signed = p.message(card, "", cardSchema())
	slices.Sort(p.left)
	if f.python {
		return pythonDumps(signed), signed, p.left
	}
	return canonical(signed), signed, p.left
}

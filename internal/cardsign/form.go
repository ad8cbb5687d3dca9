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

	// selects returns the signed part of a card, and the JSON pointers of the rest. It
	// does not change the card.
	selects func(card map[string]any) (signed map[string]any, leftOut []string)
	write   func(v any) []byte
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
	schema := cardSchema()
	prune := func(p pruner) func(map[string]any) (map[string]any, []string) {
		return func(card map[string]any) (map[string]any, []string) {
			run := p
			signed := run.message(card, "", schema)
			slices.Sort(run.left)
			return signed, run.left
		}
	}
	sdk := pruner{known: true, defaults: true, empty: true}
	return []Form{
		{FormAsServed, "all members", false, prune(pruner{}), canonical},
		{FormSpecification, "as A2A 1.0 §8.4.1 has it: without default values", true, prune(pruner{defaults: true, keep: true}), canonical},
		{"known", "the members of A2A 1.0, without those that are added for A2A 0.3 (a2a-go's servers of both)", false, prune(pruner{known: true}), canonical},
		{"non-empty", "without empty members (a2a-js, of a card in its own types)", true, prune(pruner{empty: true}), canonical},
		{FormSDK, "as a2a-js does, and a2a-python since August 2026: the members of A2A 1.0 that are not empty", true, prune(sdk), canonical},
		{"sdk-python", "as a2a-python did before August 2026: the members of A2A 1.0 that are not empty, but not in RFC 8785", true, prune(sdk), pythonDumps},
	}
}

// formNamed returns one of Forms.
func formNamed(name string) (Form, bool) {
	for _, f := range Forms() {
		if f.Name == name {
			return f, true
		}
	}
	return Form{}, false
}

// bytes returns the signed bytes of a card whose signatures were removed.
func (f Form) bytes(card map[string]any) (payload []byte, signed map[string]any, leftOut []string) {
	signed, leftOut = f.selects(card)
	return f.write(signed), signed, leftOut
}

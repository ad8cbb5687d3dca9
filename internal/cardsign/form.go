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
	writer  writer
}

// Forms for [Sign].
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
	typed := sdk
	typed.schemes = true
	return []Form{
		{FormAsServed, "all members", false, prune(pruner{}), jcs()},
		{FormSpecification, "as A2A 1.0 §8.4.1 has it: without default values", true,
			prune(pruner{defaults: true, keep: true}), jcs()},
		{"specification-required", "as A2A 1.0 §8.4.1 has it: without default values, with required members that the card does not show", true,
			prune(pruner{defaults: true, keep: true, add: true}), jcs()},
		{"known", "the members of A2A 1.0, without those that are added for A2A 0.3", false, prune(pruner{known: true}), jcs()},
		{"specification-known", "as A2A 1.0 §8.4.1 has it: the members of A2A 1.0, without default values", true,
			prune(pruner{known: true, defaults: true, keep: true}), jcs()},
		{"non-empty", "without empty members", true, prune(pruner{empty: true}), jcs()},
		{FormSDK, "as a2a-js does, and a2a-python since August 2026: the members of A2A 1.0 that are not empty", true, prune(sdk), jcs()},
		{"sdk-python", "as a2a-python did before August 2026: the members of A2A 1.0 that are not empty, but not in RFC 8785", true, prune(sdk), pythonDumps(true)},
		{"python-0.3", "as a2a-python 0.3 does: without empty members and those that have the values of its types, not in RFC 8785", true,
			prune(pruner{empty: true, typed03: true}), pythonDumps(false)},
		{"python-0.3-false", "as a2a-python 0.3.21 to 0.3.23 did: without empty members, those that are false and those that have the values of its types, not in RFC 8785", true,
			prune(pruner{empty: true, typed03: true, falsy: true}), pythonDumps(false)},
		{"js-typed", "as a2a-js does if it is given its own type: the members of A2A 1.0 that are not empty, without securitySchemes", true,
			prune(typed), jcs()},
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
	return f.writer.append(nil, signed), signed, leftOut
}

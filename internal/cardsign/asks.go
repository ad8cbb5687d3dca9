package cardsign

import (
	"maps"
	"slices"
	"strings"
)

// asks lists what a card says of credentials: each scheme, and each requirement of the
// card and its skills, in one form for both versions of A2A. Two cards with equal lists
// ask for the same.
func asks(card map[string]any) map[string]bool {
	all := map[string]bool{}
	schemes, _ := card["securitySchemes"].(map[string]any)
	for name, v := range schemes {
		all["scheme "+name+": "+schemeText(v)] = true
	}
	requirements := func(of string, object map[string]any) {
		for _, member := range []string{"securityRequirements", "security"} {
			list, _ := object[member].([]any)
			for _, r := range list {
				all[of+requirementText(r)] = true
			}
		}
	}
	requirements("the card: ", card)
	skills, _ := card["skills"].([]any)
	for _, s := range skills {
		if skill, ok := s.(map[string]any); ok {
			id, _ := skill["id"].(string)
			requirements("skill "+id+": ", skill)
		}
	}
	return all
}

// sameAsks reports whether the signed part of a card asks for the same credentials as
// the whole card.
func sameAsks(card, signed map[string]any) bool { return maps.Equal(asks(card), asks(signed)) }

// schemeText returns a scheme without empty members. For a card with the forms of both
// versions of A2A, 1.0's counts.
func schemeText(v any) string {
	plain := pruner{empty: true}
	object, ok := v.(map[string]any)
	if !ok {
		return string(jcs().append(nil, v))
	}
	var spelled []string
	for name := range schemeSchema() {
		if inner, there := object[name]; there {
			inner, _ = plain.nonEmpty(inner, "")
			spelled = append(spelled, name+string(jcs().append(nil, inner)))
		}
	}
	if len(spelled) > 0 {
		slices.Sort(spelled)
		return strings.Join(spelled, " ")
	}
	v, _ = plain.nonEmpty(v, "")
	return string(jcs().append(nil, v))
}

// requirementText returns a requirement: its schemes, each with its scopes.
func requirementText(v any) string {
	object, ok := v.(map[string]any)
	if !ok {
		return string(jcs().append(nil, v))
	}
	if inner, ok := object["schemes"].(map[string]any); ok {
		object = inner // 1.0; in 0.3 a scheme of that name has a list
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		scopes := object[name]
		if l, ok := scopes.(map[string]any); ok {
			scopes = l["list"]
		}
		list, _ := scopes.([]any)
		parts = append(parts, name+string(jcs().append(nil, list)))
	}
	return strings.Join(parts, " and ")
}

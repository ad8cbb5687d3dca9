package dialect

import (
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// An Ability is something that an agent can do, or cannot.
type Ability struct {
	Name string
	Has  bool
}

// Abilities tells in one line what an agent can do and cannot: the ones that its client
// knows of, files by its card, and approvals by the dialect that we write to it.
func (w Writing) Abilities(card *a2a.Card, known ...Ability) string {
	files := false
	for _, kind := range []string{"image/*", "audio/*", "video/*", "application/*"} {
		files = files || card.Takes(kind)
	}
	var has, lacks []string
	for _, a := range append(known, Ability{"files", files}, Ability{"approvals", w.Traits().Approvals}) {
		if a.Has {
			has = append(has, a.Name)
		} else {
			lacks = append(lacks, a.Name)
		}
	}
	var line []string
	if len(has) > 0 {
		line = append(line, strings.Join(has, ", "))
	}
	if len(lacks) > 0 {
		line = append(line, "no "+strings.Join(lacks, ", no "))
	}
	return strings.Join(line, "; ")
}

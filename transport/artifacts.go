package transport

import (
	"iter"
	"strings"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// artifactsOf walks the artifacts of a task. Those that follow each other with one ID are one: trpc-a2a-go
// (0.2.5, and v2 for A2A 1.0) keeps each piece of an artifact as an artifact. Each has a source of its own, if any,
// as the next is read before it is used: from is the event's.
func artifactsOf(raw string, from *fastpath.Source) iter.Seq[a2a.Artifact] {
	return func(yield func(a2a.Artifact) bool) {
		var same []a2a.Artifact
		over := false
		rawjson.EachElement(raw, func(value string) bool {
			var a a2a.Artifact
			readArtifact(value, 0, &a, from.Fresh())
			if len(same) > 0 && (a.ID == "" || a.ID != same[0].ID) {
				over = !yield(joined(same))
				same = same[:0]
			}
			same = append(same, a)
			return !over
		})
		if len(same) > 0 && !over {
			yield(joined(same))
		}
	}
}

// minGrown is how long a text has to be that one other is taken to have grown from: "no " and "no no" are two.
const minGrown = 8

// joined makes one artifact of some with one ID: of all their parts, or the last, where that has what the others
// have, since the artifact has grown or since it is the whole behind its pieces.
func joined(same []a2a.Artifact) a2a.Artifact {
	all := same[0]
	if len(same) == 1 {
		return all
	}
	var list []a2a.Part
	var pieces strings.Builder
	before, grows, last := "", true, len(same)-1
	for i, a := range same {
		text := a.Parts.Text()
		grows = grows && len(text) > len(before) && strings.HasPrefix(text, before)
		if i == last && (grows && (last > 1 || len(before) >= minGrown) || last > 1 && text != "" && text == pieces.String()) {
			all.Parts = a.Parts
			return all
		}
		for part := range a.Parts.All() {
			list = append(list, *part)
		}
		before = text
		pieces.WriteString(text)
	}
	all.Parts = a2a.Parts{}
	all.Parts.FastPath().List = list
	return all
}

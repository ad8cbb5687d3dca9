package dialect

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// hector is github.com/kadirpekel/hector's server. It streams an answer in pieces, and then
// appends the whole of it to the same artifact: partial in the event's metadata tells which
// is which. All else that it says is A2A. Recorded from version 2.
type hector struct{ base }

// minWhole is how long a text of a task that goes on must be to be taken for a whole.
const minWhole = 16

func (hector) about() about { return about{name: "hector", sign: `"partial"`} }

func (hector) matchesCard(card *a2a.Card) bool { return card.Provider == "Hector" }

func (hector) recognizes(ev *a2a.Event) bool {
	return ev.Kind == a2a.EventArtifact && hectorMark(ev.Metadata) != partialUnset
}

// hectorMark reads the mark of an event's metadata, which has these three members.
func hectorMark(metadata a2a.JSON) partial {
	if !strings.Contains(string(metadata), `"partial"`) {
		return partialUnset
	}
	m := gjson.GetMany(string(metadata), "author", "event_id", "partial")
	switch {
	case m[0].Type != gjson.String || m[1].Type != gjson.String:
	case m[2].Type == gjson.True:
		return isPiece
	case m[2].Type == gjson.False:
		return isWhole
	}
	return partialUnset
}

func (hector) artifact(a *a2a.Artifact, at *Carrier, to *Pieces) bool {
	if at.Held {
		return splitHeld(a, at, to)
	}
	mark := hectorMark(at.Metadata)
	if mark == partialUnset {
		return false
	}
	kind := PieceText
	if mark == isPiece {
		kind = PieceDelta
	} else if at.Streamed {
		kind = PieceWhole
	}
	to.parts(a.Parts, kind)
	return true
}

// splitHeld splits an artifact that a task holds, without each text that says again all
// pieces before it, up to the whole before, or to the result of a tool, which no answer goes on behind:
// without streaming there are wholes alone, and two may be alike. Where the task is not done,
// the pieces behind the newest whole may repeat each other and have none: only a long one counts
// there. It reports whether there are pieces.
func splitHeld(a *a2a.Artifact, at *Carrier, to *Pieces) bool {
	var all strings.Builder
	ends, answer := []int{0}, 0 // where the texts end in all; the index of the answer's first piece
	done := at.State == a2a.StateCompleted || at.State == a2a.StateInputRequired
	wholes := map[int]int{} // the index of the whole, by that of its first piece
	for p := range a.Parts.All() {
		switch {
		case p.Kind == a2a.PartData && (gjson.Get(string(p.Data), "type").Str == "tool_result" || gjson.Get(string(p.Data), "call_id").Exists()):
			answer = len(ends) - 1
		case p.Kind == a2a.PartText && p.Text != "":
			i, ok := slices.BinarySearch(ends, all.Len()-len(p.Text))
			if ok && i >= answer && all.String()[ends[i]:] == p.Text && (done || len(p.Text) >= minWhole) {
				wholes[i] = len(ends) - 1
			}
			all.WriteString(p.Text)
			ends = append(ends, all.Len())
		}
	}
	i, whole := 0, wholes[0]
	for p := range a.Parts.All() {
		switch {
		case p.Kind != a2a.PartText:
			to.part(p)
			continue
		case p.Text == "":
			continue
		case i != whole || whole == 0:
			to.text(PieceText, p.Text)
		}
		if i++; i > whole {
			whole = wholes[i]
		}
	}
	return len(to.List) > 0
}

package dialect

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// hector is github.com/kadirpekel/hector's server. It streams an answer in pieces, and then
// appends the whole of it to the same artifact: partial in the event's metadata tells which
// is which. All else that it says is A2A. Recorded from version 2.
type hector struct{ base }

func (hector) name() string { return "hector" }

func (hector) sign() string { return `"partial"` }

func (hector) tells(card *a2a.Card) bool { return card.Provider == "Hector" }

func (hector) knows(ev *a2a.Event) bool {
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
		return heldWholes(a, to)
	}
	mark := hectorMark(at.Metadata)
	if mark == partialUnset {
		return false
	}
	for p := range a.Parts.All() {
		switch {
		case p.Kind != a2a.PartText:
			to.part(p)
		case mark == isPiece:
			to.text(PieceDelta, p.Text)
		case at.Streamed:
			to.text(PieceAll, p.Text)
		default:
			to.text(PieceText, p.Text)
		}
	}
	return true
}

// heldWholes leaves out of an artifact that a task holds the pieces of which the whole stands
// behind them.
func heldWholes(a *a2a.Artifact, to *Pieces) bool {
	var texts []string
	for p := range a.Parts.All() {
		if p.Kind != a2a.PartText {
			return false
		}
		texts = append(texts, p.Text)
	}
	for i := 0; i < len(texts); i++ {
		pieces, whole := texts[i], i
		for j := i + 1; j < len(texts); j++ {
			if texts[j] == pieces {
				whole = j
			}
			pieces += texts[j]
		}
		to.text(PieceText, texts[whole])
		i = whole
	}
	return len(texts) > 0
}

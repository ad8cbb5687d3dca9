package mapping

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// textParts makes the parts of a message, one for each text.
func textParts(texts ...string) a2a.Parts {
	raw, _ := json.Marshal(texts)
	return partsBy(string(raw), func(raw string, p *a2a.Part) (string, bool) {
		var texts []string
		if json.Unmarshal([]byte(raw), &texts) != nil || len(texts) == 0 {
			return "", false
		}
		*p = a2a.Part{Kind: a2a.PartText, Text: texts[0]}
		rest, _ := json.Marshal(texts[1:])
		return string(rest), true
	})
}

// partsBy makes a list of parts that next decodes, one by one.
func partsBy(raw string, next func(raw string, p *a2a.Part) (rest string, ok bool)) a2a.Parts {
	parts := a2a.Parts{Raw: a2a.JSON(raw)}
	parts.FastPath().Step = func(raw string, _ *fastpath.Source, p *a2a.Part) (string, bool) { return next(raw, p) }
	return parts
}

// onePart makes a list of one part.
func onePart(p *a2a.Part) (parts a2a.Parts) {
	parts.FastPath().Only = p
	return parts
}

func seq[T any](values []T) iter.Seq[T] { return slices.Values(values) }

// FuzzFold: after any number of events, a snapshot of the task shows exactly what it holds
// beyond what was shown. Everything is shown once, and a snapshot of what was shown shows
// nothing.
//
// The script's bytes are chunks of text: the low bits choose the message or the
// artifact, the others the length. at is where the snapshots come in.
func FuzzFold(f *testing.F) {
	f.Add([]byte{0, 9, 18, 255, 4, 4, 7, 1}, 3, 5)
	f.Add([]byte{1, 1, 1, 2, 2, 3}, 0, 6)
	f.Fuzz(func(t *testing.T, script []byte, lose, at int) {
		if len(script) > 200 || lose < 0 || at < lose || at > len(script) {
			return
		}
		said := map[string]string{}
		shown := map[string]string{}
		fold := NewFold()
		show := func(ev *a2a.Event) (n int) {
			for _, s := range fold.Event(ev, nil) {
				if s.Kind == StepText {
					shown[s.MessageID] += s.Text
					n++
				}
			}
			return n
		}
		snapshot := func() *a2a.Event {
			var history []a2a.Message
			var artifacts []a2a.Artifact
			for i := range 8 {
				id := fmt.Sprint(i)
				text, ok := said[id]
				half := len(text) / 2 // an agent may keep a text in several parts
				switch {
				case !ok:
				case i < 4:
					history = append(history, a2a.Message{ID: id, Role: a2a.RoleAgent, Parts: textParts(text[:half], text[half:])})
				default:
					artifacts = append(artifacts, a2a.Artifact{ID: id, Parts: textParts(text)})
				}
			}
			return &a2a.Event{Kind: a2a.EventTask, TaskID: "t", History: seq(history), Artifacts: seq(artifacts)}
		}
		for i, b := range script {
			id := fmt.Sprint(b & 7)
			text := fmt.Sprintf("%d:%0*d ", i, int(b>>3)*5+1, i)
			said[id] += text
			if i >= lose && i < at {
				continue // said while nobody listened
			}
			if i == at {
				said[id] = said[id][:len(said[id])-len(text)]
				show(snapshot())
				said[id] += text
			}
			ev := &a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: a2a.StateWorking, HasMessage: true,
				Message: a2a.Message{ID: id, Role: a2a.RoleAgent, Parts: textParts(text)}}
			if b&7 >= 4 {
				ev = &a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Append: true,
					Artifact: a2a.Artifact{ID: id, Parts: textParts(text)}}
			}
			show(ev)
		}
		show(snapshot())
		for id, text := range said {
			if shown[id] != text {
				t.Fatalf("message %s: said %q, shown %q", id, text, shown[id])
			}
		}
		if n := show(snapshot()); n != 0 {
			t.Fatalf("a snapshot of what was shown gave %d steps", n)
		}
	})
}

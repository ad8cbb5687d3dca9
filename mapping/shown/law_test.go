package shown

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestLaw: wherever a stream is cut, the editor has been shown of each item what the agent
// has said of it, once, if the agent's task holds all of it; no gap is told then. The model is
// a list of items: messages that are said in pieces, and an artifact that is appended to or
// sent whole.
func TestLaw(t *testing.T) {
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		got := conversation{texts: map[string]string{}}
		s := New(got.show)
		s.Task("task")
		s.Begin()
		s.Sent("ours", "hello")
		said, history := map[string]string{}, []Item{{ID: "ours", Kind: User}}
		cut, heard := r.IntN(14), true
		for i := range r.IntN(14) {
			id, words := fmt.Sprint("m", r.IntN(2)), " "+[]string{"the", "cat", "ha", "妈", "x"}[r.IntN(5)]
			in := Item{Kind: Message}
			if r.IntN(3) == 0 {
				id, in.Kind, in.Append = "a", Artifact, said["a"] != ""
			}
			if said[id] == "" {
				words = fmt.Sprintf("%s begins at %d", id, i) // two items do not begin alike
			}
			said[id] += words
			in.ID, in.Parts = id, textParts(words)
			if in.Kind == Message {
				history = append(history, in)
			} else if in.Append && r.IntN(3) == 0 {
				in.Append, in.Parts = false, textParts(said[id])
			}
			if i == cut {
				heard = false
				s.Cut()
			}
			if heard {
				s.Live(&in)
			} else if r.IntN(2) == 0 {
				s.Snapshot(a2a.StateWorking, held2(history, said["a"]))
			}
		}
		if !heard {
			s.Snapshot(a2a.StateCompleted, held2(history, said["a"]))
		}
		s.End(false)
		if got.gaps > 0 || fmt.Sprint(got.texts) != fmt.Sprint(said) {
			t.Fatalf("seed %d, cut %d: %d gaps\nsaid  %q\nshown %q", seed, cut, got.gaps, said, got.texts)
		}
	}
}

func held2(history []Item, artifact string) []Item {
	if artifact == "" {
		return history
	}
	return append(history[:len(history):len(history)], Item{Kind: Artifact, ID: "a", Parts: textParts(artifact)})
}

// A conversation is what an editor has.
type conversation struct {
	texts map[string]string
	gaps  int
}

func (c *conversation) show(s *Step) {
	switch {
	case s.Op == Gap:
		c.gaps++
		return
	case s.Repeats:
		return
	case s.Op == Replace:
		c.texts[s.ID] = ""
	}
	c.texts[s.ID] += strings.Clone(s.Text)
}

func textParts(texts ...string) (p a2a.Parts) {
	for _, text := range texts {
		part := a2a.Part{Kind: a2a.PartText, Text: text}
		if strings.HasPrefix(text, "{") {
			part = a2a.Part{Kind: a2a.PartData, Data: a2a.JSON(text)}
		}
		p.FastPath().List = append(p.FastPath().List, part)
	}
	return p
}

// TestLongTurn: of a turn that says more than is kept to compare with, nothing is lost, and nothing panics, whatever
// is cut.
func TestLongTurn(t *testing.T) {
	words := func(n int, seed string) string { return strings.Repeat(seed+" and so on. ", n/(len(seed)+12)) }
	old, long := words(860_000, "Old"), words(1_200_000, "Long")
	for name, v := range map[string]struct {
		live, held []Item
		want       string
	}{
		"a history that is longer": {
			[]Item{{ID: "m1", Parts: textParts(old)}, {ID: "m2", Parts: textParts("Short.")}},
			[]Item{{Kind: User, ID: ourID}, {ID: "h1", Parts: textParts(old)}, {ID: "h2", Parts: textParts(words(300_000, "New"))}, {ID: "h3", Parts: textParts("End.")}},
			"End.",
		},
		"pieces that are long": {
			[]Item{{ID: "m1", Parts: textParts("a ")}, {ID: "m2", Parts: textParts(" b")}, {ID: "m2", Parts: textParts(long)}, {ID: "m3", Parts: textParts("Next.")}},
			[]Item{{Kind: User, ID: ourID}, {ID: "m1", Parts: textParts("a ")}, {ID: "m2", Parts: textParts(" b", long)}, {ID: "m3", Parts: textParts("Next. More.")}},
			" More.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c view
			s := New(c.show)
			s.Task("task")
			s.Begin()
			for i := range v.live {
				if s.Live(&v.live[i]); i == 0 && name == "a history that is longer" {
					s.Break()
				}
			}
			s.Cut()
			s.Snapshot(a2a.StateCompleted, v.held)
			must.Equal(t, c[len(c)-1].text, v.want, "at the end")
		})
	}
}

package mapping

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestLargeText: a text that is too long to be kept is known by its hash, so that an
// artifact that holds it is shown once, and what goes on with it is told from what
// replaces it.
func TestLargeText(t *testing.T) {
	large := strings.Repeat("0123456789abcde\n", maxSaid/8)
	event := func(id, text string, follows bool) *a2a.Event {
		return &a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Append: follows, Artifact: a2a.Artifact{ID: id, Parts: textParts(text)}}
	}
	f := NewFold()
	shown := func(ev *a2a.Event) string {
		text := ""
		for _, s := range f.Event(ev, nil) {
			text += s.Text
		}
		if n := cap(f.texts.said.text); n > 2*maxSaid {
			t.Errorf("%d bytes are kept", n)
		}
		return text
	}
	for _, c := range []struct {
		what, id, text string
		follows        bool
		want           string
	}{
		{"it", "a", large, false, large},
		{"it again", "a", large, false, ""},
		{"it and more", "a", large + "more", false, "more"},
		{"a piece behind it", "a", " and more", true, " and more"},
		{"all of that", "a", large + "more and more", false, ""},
		{"another text of its length", "a", strings.Repeat("x", len(large)), false, strings.Repeat("x", len(large))},
		{"what is small", "b", "words", false, "words"},
		{"the same words, as another", "c", "words", false, ""},
	} {
		if got := shown(event(c.id, c.text, c.follows)); got != c.want {
			t.Errorf("%s: shows %d bytes, want %d", c.what, len(got), len(c.want))
		}
	}
}

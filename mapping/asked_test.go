package mapping_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
)

// TestAsked: the user always sees what a call asks, whatever the agent adds to it, all that is said beside, and what
// the options mean. testdata/asked.txt has calls, and what is asked: the title, the text and the change as ACP shows
// them, the options with what they do, and what version 2 shows it as.
func TestAsked(t *testing.T) {
	const file = "testdata/asked.txt"
	cases := strings.Split(string(must.Get(os.ReadFile(file))(t)), "\n\n== ")
	for i, text := range cases[1:] {
		lines := strings.SplitN(text, "\n", 3)
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n%s\n", lines[0], lines[1])
		p := askedBy(t, lines[1], nil).Get("toolCall")
		fmt.Fprintf(&b, "= %s\n", p.Get("title").Str)
		for _, piece := range p.Get("content").Array() {
			for line := range strings.Lines(piece.Get("content.text").Str) {
				fmt.Fprintf(&b, "\t%s\n", strings.TrimSuffix(line, "\n"))
			}
			if piece.Get("type").Str == "diff" {
				fmt.Fprintf(&b, "\tdiff of %s: %q\n", piece.Get("path").Str, piece.Get("newText").Str)
			}
		}
		for _, o := range askedBy(t, lines[1], nil).Get("options").Array() {
			fmt.Fprintf(&b, "- %s: %s\n", o.Get("name").Str, o.Get("kind").Str)
		}
		fmt.Fprintf(&b, "in version 2: %s", askedBy(t, lines[1], &spell.Places{}).Get("subject.type").Str)
		cases[i+1] = b.String()
	}
	must.Golden(t, *update, file, strings.Join(cases, "\n\n== ")+"\n")
}

// askedBy returns the parameters of session/request_permission about a call of the
// development-tool extension.
func askedBy(t *testing.T, call string, v2 *spell.Places) gjson.Result {
	t.Helper()
	fold := speaking()
	fold.Event(shown.Live, dataEvent(call), nil)
	if len(fold.Open()) != 1 {
		t.Fatalf("not a question: %s", call)
	}
	return gjson.ParseBytes((&spell.ACP{Session: "s", Cwd: "/w", V2: v2}).Permission(mapping.NewQuestion(fold.Open()[0])))
}

package shapes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/editor"
)

// TestCases plays the cases over all protocols.
func TestCases(t *testing.T) {
	wrong := 0
	for _, c := range Cases() {
		for _, version := range []string{"0.3", "1.0"} {
			if version == "1.0" && c.Only03 {
				continue
			}
			for _, p := range []editor.Protocol{editor.ACP, editor.ACP2, editor.Lines} {
				var found []string
				for n, turn := range play(t, c.Script(version == "1.0"), p) {
					for _, what := range c.judge(n, turn, p == editor.Lines) {
						found = append(found, fmt.Sprintf("turn %d: %s", n, what))
					}
				}
				if len(found) > 0 {
					wrong++
					t.Errorf("%s (%s, %s): %s", c.Name, version, p, strings.Join(found, "; "))
				}
			}
		}
	}
	t.Logf("wrong: cases: %d", wrong)
}

// judge says what is wrong with a turn.
func (c *Case) judge(n int, turn *editor.Turn, lines bool) (wrong []string) {
	_, view, gaps := View(turn.Shown)
	want := c.Views[n]
	got := view
	if c.Letters {
		want, got = Letters(strings.ReplaceAll(want, Break, "")), Letters(strings.ReplaceAll(got, Break, ""))
	}
	if lines { // where a message ends is in the record
		want, got = Letters(want), Letters(got)
	} else {
		want += c.Data
	}
	if turn.Err != "" {
		wrong = append(wrong, turn.Err)
	}
	if got != want || gaps > 0 {
		wrong = append(wrong, fmt.Sprintf("the user reads %q, and should read %q (%d gaps)", got, want, gaps))
	}
	parts := 0
	for _, s := range turn.Shown {
		if s.Kind == editor.Part {
			parts++
		}
	}
	if lines {
		if class := JudgeRecord(Record(turn.Shown), c.Items[n]); class != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %q", class, Record(turn.Shown)))
		}
	}
	if lines && parts != c.Parts[n] {
		wrong = append(wrong, fmt.Sprintf("%d parts, and should have %d", parts, c.Parts[n]))
	}
	return wrong
}

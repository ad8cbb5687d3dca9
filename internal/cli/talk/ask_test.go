package talk

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// FuzzAskedOnScreen: on terminals of 40, 80 and 200 columns a question has all our lines,
// whole and in their order. Nothing that the agent says begins where our words do.
func FuzzAskedOnScreen(f *testing.F) {
	for _, text := range []string{"ls", "git status\n  run: harmless", strings.Repeat(" ", 250) + strings.Repeat("x", 70), "\x1b[2J\x1b[1;1H",
		"\r  in: /tmp", "漢字" + strings.Repeat("漢", 90), "a\tb", strings.Repeat("  in: /safe ", 30), "\u202e\u2065", strings.Repeat("y\n", 500)} {
		f.Add(text, "/w", "Look", "Allow", "+x")
		f.Add("ls", text, text, text, text)
	}
	f.Fuzz(func(t *testing.T, command, dir, said, option, change string) {
		for _, text := range []*string{&command, &dir, &said, &option, &change} {
			*text = strings.ToValidUTF8(*text, "\ufffd")
		}
		c := &mapping.ToolCall{Name: dir, Description: said, Confirmation: &mapping.Confirmation{
			Execute: &mapping.ExecuteDetails{Command: command, WorkingDirectory: dir}, Edit: &mapping.FileDiff{FilePath: dir, NewContent: change},
			Options: []mapping.ConfirmationOption{{ID: "a", Name: option, Description: said}, {ID: "b", Name: "Reject", Description: option}}}}
		q := mapping.NewQuestion(c)
		for _, width := range []int{40, 80, 200} {
			shown := describe(false, width, &q, nil)
			rows := strings.Split(shown, "\n")
			if drawn := draw(shown, width); len(drawn) != len(rows) {
				t.Fatalf("%d columns: %d rows are %d on the screen:\n%s", width, len(rows), len(drawn), shown)
			}
			var got []string // our lines
			for _, row := range rows[1:] {
				switch {
				case strings.HasPrefix(row, "      ") && len(got) > 0:
					got[len(got)-1] += row[agentIndent:]
				case strings.HasPrefix(row, "    "): // the change
					got = append(got, "")
				case strings.HasPrefix(row, ourIndent):
					got = append(got, row[len(ourIndent):])
				}
			}
			var want []string
			for _, l := range ask.Lines(c, nil) {
				line := l.Label
				if l.Text != "" {
					line += ": " + l.Text
				}
				want = append(want, strings.NewReplacer("\n", "", "\t", "    ").Replace(line))
			}
			for _, line := range got {
				if len(want) > 0 && line == want[0] {
					want = want[1:]
				}
			}
			if len(want) > 0 {
				t.Fatalf("%d columns: %q is missing in\n%s", width, want[0], shown)
			}
		}
	})
}

// draw is what a screen of so many columns shows.
func draw(text string, width int) (rows []string) {
	row, n := "", 0
	for _, r := range text {
		w := displaywidth.Rune(r)
		if r == '\n' || n+w > width {
			rows, row, n = append(rows, row), "", 0
		}
		if r != '\n' {
			row, n = row+string(r), n+w
		}
	}
	return append(rows, row)
}

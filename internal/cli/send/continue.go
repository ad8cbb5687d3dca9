package send

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/cli/talk"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A thread is the conversation with an agent in a directory. Each command stores where
// it has left the conversation, for --continue.
type thread struct {
	store      *store.Store
	agent, cwd string
	l          *reach.Link
	// notKept reports that nothing is stored: to the user at a terminal or with --continue,
	// otherwise to the log.
	notKept func(error)
}

// openThread opens the conversation. Without a place to store it only --continue fails.
func openThread(p *frame.Program, c *cli.Context, l *reach.Link) (*thread, error) {
	s, err := store.Open("")
	if err != nil && c.Bool("continue") {
		return nil, err
	}
	lose := func(err error) { l.Options.Log.Warn("the conversation is not kept for --continue", "err", err) }
	if c.Bool("continue") || frame.IsTerminal(p.Stderr) {
		lose = func(err error) { p.Say("this conversation is not stored for --continue: %v", err) }
	}
	if err != nil {
		lose(err)
	}
	return &thread{s, cmp.Or(l.Name, "command "+c.String("agent-command")), l.Options.Workspace, l, lose}, nil
}

// resume has a message go on with the conversation.
func (t *thread) resume(m *a2a.Outgoing) error {
	last, err := t.store.Conversation(t.agent, t.cwd)
	switch {
	case errors.Is(err, store.ErrNoSession):
		return fmt.Errorf("there is no conversation with this agent in %s to continue: send without --continue begins one", t.cwd)
	case err != nil:
		return err
	}
	m.ContextID, m.TaskID = last.ContextID, last.TaskID
	return nil
}

// keep stores where the conversation is, unless nothing of it is known, or kept.
func (t *thread) keep(contextID, taskID string) {
	if contextID == "" && taskID == "" || t.l.Options.NoHistory {
		return
	}
	err := t.store.PutConversation(store.Record{Agent: t.agent, Cwd: t.cwd,
		ContextID: strings.ToValidUTF8(contextID, ""), TaskID: strings.ToValidUTF8(taskID, "")})
	if err != nil {
		t.notKept(err)
		t.notKept = func(error) {} // report it once
	}
}

// explainRefusal adds to an agent's refusal what the user can do, if the message named a task
// or a context. Other errors, and nil, stay.
func (s *sending) explainRefusal(err error) error {
	if !refused(err) {
		return err
	}
	id := s.message.TaskID
	if id != "" && s.waitsForApproval(id) {
		// A prompt is no approval, whatever it says.
		return fmt.Errorf("%w: the task waits for approval: a2astdio task subscribe --approve ask %s", err, safe.ShellWord(id))
	}
	switch agent := a2a.ErrorOf(err); {
	case s.c.Bool("continue"):
		return fmt.Errorf("%w: it may have given up this conversation; send without --continue begins another", err)
	case id != "" && frame.IsSet(s.c, "task-id") && agent.Has(a2a.CodeTaskNotFound):
		return fmt.Errorf("agent: it has no task %s (%s, %d): a2astdio task list shows its tasks", id, agent.Message, agent.Code)
	}
	return err
}

// refused reports whether the agent has refused a message because of its task or
// context.
func refused(err error) bool {
	return a2a.ErrorOf(err).Has(a2a.CodeTaskNotFound, a2a.CodeInvalidRequest, a2a.CodeInvalidParams, a2a.CodeUnsupportedOperation)
}

// waitsForApproval reports whether a task does; false where that is not known.
func (s *sending) waitsForApproval(id string) bool {
	_, w, err := s.agent.Ready(s.c.Context)
	if err != nil {
		return false
	}
	task, err := s.l.Client.Get(s.c.Context, id, -1)
	return err == nil && task.State == a2a.StateInputRequired && talk.WaitsForApproval(task, w.Dialect)
}

package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// pushConfigWait is how long setting or deleting a configuration may take, in the
	// background.
	pushConfigWait = 10 * time.Second
	// lastPushWait is how long the end of the process waits for the agent to forget a
	// webhook: editors kill what takes a second.
	lastPushWait = 300 * time.Millisecond
)

// requestPushes has the agent push what becomes of the turn's task: it adds
// the configuration to a prompt; for a task that is resumed it sets it again. It does nothing
// without a receiver, or if the agent cannot push, by its card or by what it has refused.
func (t *turn) requestPushes(r *request) {
	s := t.session
	if t.agent.opts.Webhooks == nil || !t.card.Push || t.isCommand || t.agent.pushRefused.Load() {
		return
	}
	if r.message == nil && r.taskID == "" || r.answers || r.message != nil && r.message.Push != nil {
		return // an answer to a question; or the editor receives itself
	}
	if s.pushes == nil {
		hook := t.agent.opts.Webhooks.Open(s.webhook)
		s.pushes, s.webhook = t.agent.feed(hook), hook.Name()
	}
	if r.message != nil {
		r.message.Push = &s.pushes.config
		return
	}
	config := s.pushes.config
	config.TaskID = r.taskID
	t.agent.later(pushConfigWait, func(ctx context.Context) {
		if err := t.agent.opts.Client.SetPush(ctx, config); err != nil {
			t.agent.opts.Log.Info("the agent does not take the webhook again", "task", config.TaskID, "err", err)
		}
	})
}

// withoutPush returns a refused message without the webhook that it carried, if the
// webhook may be the reason of the refusal; nil otherwise.
func (t *turn) withoutPush(m *a2a.Outgoing, refusal *a2a.Error) *a2a.Outgoing {
	s := t.session
	if m.Push == nil || s.pushes == nil || m.Push != &s.pushes.config {
		return nil // none, or the editor's own
	}
	switch refusal.Code {
	case a2a.CodePushNotSupported:
		t.agent.pushRefused.Store(true)
	case a2a.CodeInvalidParams, a2a.CodeInvalidRequest, a2a.CodeUnsupportedOperation, a2a.CodeMethodNotFound:
	default:
		// Over HTTP+JSON it may have no code, and be of any form.
		if refusal.Code != 0 || refusal.HTTPStatus != 400 && refusal.HTTPStatus != 422 {
			return nil
		}
	}
	t.agent.opts.Log.Info("the agent refused a message with a webhook: it is sent without", "err", refusal)
	s.endPushes()
	again := *m
	again.Push = nil
	return &again
}

// endPushesOfOver ends the session's webhook, at the end of a turn, if its task is over or
// given up; the agent is asked to forget it. A task that waits for input keeps it.
func (t *turn) endPushesOfOver() {
	s := t.session
	if s.pushes == nil || s.taskID != "" && s.taskID == t.fold.TaskID && !t.fold.State.Terminal() {
		return
	}
	config, task := s.pushes.config, t.fold.TaskID
	if s.endPushes(); task == "" {
		return
	}
	t.agent.legs.Go(func() { // ends with its time, or lastPushWait after the agent
		ctx, stop := context.WithTimeout(context.WithoutCancel(t.agent.ctx), pushConfigWait)
		defer stop()
		defer context.AfterFunc(t.agent.ctx, func() { time.AfterFunc(lastPushWait, stop) })()
		if err := t.agent.opts.Client.DeletePush(ctx, task, config.ID); err != nil && !errors.Is(err, context.Canceled) {
			t.agent.opts.Log.Debug("deleting a webhook", "task", task, "err", err)
		}
	})
}

func (s *Session) endPushes() {
	s.pushes.close()
	s.pushes, s.webhook = nil, ""
}

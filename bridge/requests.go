package bridge

import (
	"context"
	"fmt"
	"slices"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Send is [Turn.Run] for a message that the caller has written: its task and
// context are what it says, not what the session remembers. An empty ID is
// filled in, and a new task gets the session's settings unless the message has
// some.
func (t Turn) Send(ctx context.Context, m *a2a.Outgoing, editor Editor) (Result, error) {
	defer t.t.release()
	return t.t.run(ctx, editor, true, func(context.Context) (*request, error) {
		s := t.t.session
		if m.ID == "" {
			m.ID = s.agent.opts.NewID()
		}
		if m.ContextID == "" && m.TaskID == "" {
			m.ContextID = s.contextID
		}
		if m.TaskID == "" && !t.t.writing.Settled(m) {
			if err := s.settings(m, t.t.writing); err != nil {
				return nil, err
			}
		}
		return t.t.say(m), nil
	})
}

// Answer goes on from a turn that ended with calls pending: see [ErrPause].
// answers returns an answer to each of them, for which it gets the questions.
func (t Turn) Answer(ctx context.Context, answers func([]mapping.Question) ([]mapping.Answer, error), editor Editor) (Result, error) {
	defer t.t.release()
	return t.t.run(ctx, editor, false, func(context.Context) (*request, error) {
		var questions []mapping.Question
		for _, call := range t.t.fold.Open() {
			questions = append(questions, mapping.Question{Call: call, Options: mapping.Options(call)})
		}
		given, err := answers(questions)
		if err != nil {
			return nil, err
		}
		for i, a := range given {
			at := slices.IndexFunc(questions, func(q mapping.Question) bool { return q.Call == a.Call })
			if at < 0 {
				return nil, fmt.Errorf("bridge: an answer to a question that was not asked")
			}
			chosen, always := mapping.Choose(questions[at], a.OptionID)
			t.t.session.allow(always)
			given[i].OptionID = chosen.OptionID
		}
		return t.t.answer(given)
	})
}

// Follow shows what becomes of a task that is under way. What it asks, and was
// not answered, is asked again. An agent's refusal to have it followed is the
// error.
func (t Turn) Follow(ctx context.Context, taskID string, editor Editor) (Result, error) {
	t.t.gapTold = true // nobody has followed it so far
	return t.request(ctx, editor, taskID, false, func(ctx context.Context) (*transport.Stream, string, error) {
		stream, err := t.t.agent.opts.Client.Resubscribe(ctx, taskID, "")
		return stream, taskID, err
	})
}

// goOn is Follow for a task of which the session has shown something, by whatever
// way the agent offers.
func (t Turn) goOn(ctx context.Context, editor Editor) (Result, error) {
	t.t.gapTold = true // by when it was shown, not by a cut
	return t.request(ctx, editor, t.t.session.taskID, false, nil)
}

// request runs a turn that begins with something else than a message.
func (t Turn) request(ctx context.Context, editor Editor, taskID string, fresh bool, send func(context.Context) (*transport.Stream, string, error)) (Result, error) {
	defer t.t.release()
	return t.t.run(ctx, editor, fresh, func(context.Context) (*request, error) {
		return &request{taskID: taskID, send: send}, nil
	})
}

package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// prompt is Run without the release: the caller releases the turn, or begins its successor.
func (t Turn) prompt(ctx context.Context, prompt []acp.ContentBlock, editor Editor) (Result, error) {
	made := false
	r, err := t.run(ctx, editor, true, func(ctx context.Context) (*request, error) {
		next, err := t.promptRequest(ctx, prompt)
		made = err == nil
		return next, err
	})
	if (!made || t.isCancelled()) && !isDetached(ctx) {
		t.session.record(spell.EndLine(nil, r.State)) // of a turn that has sent nothing
	}
	return r, err
}

// promptRequest returns the request of a prompt: with a message, or a slash command of the agent's.
func (t Turn) promptRequest(ctx context.Context, prompt []acp.ContentBlock) (*request, error) {
	if !t.session.plain {
		if r := t.commandRequest(ctx, prompt); r != nil {
			return r, nil
		}
	}
	parts, err := spell.Prompt(prompt, t.card)
	if err != nil {
		return nil, err
	}
	m, err := t.session.message(parts, t.writing)
	if err != nil {
		return nil, err
	}
	if err := t.forwardServers(ctx, m); err != nil {
		return nil, err
	}
	return t.replyRequest(ctx, m)
}

// Send is [Turn.Run] for a message that the caller has written: its task and
// context are what it says, not what the session remembers. An empty ID is
// filled in, and a new task gets the session's settings unless the message has
// some.
func (t Turn) Send(ctx context.Context, m *a2a.Outgoing, editor Editor) (Result, error) {
	defer t.release()
	return t.run(ctx, editor, true, func(ctx context.Context) (*request, error) {
		if err := t.session.fillIn(m, t.writing); err != nil {
			return nil, err
		}
		return t.replyRequest(ctx, m)
	})
}

// Answer goes on from a turn that ended with calls pending: see [ErrPause].
// answers returns an answer to each of them, for which it gets the questions. Here
// [mapping.Answer.Call] tells which question is answered. An error of answers is the
// turn's, and leaves the calls pending.
func (t Turn) Answer(ctx context.Context, answers func([]mapping.Question) ([]mapping.Answer, error), editor Editor) (Result, error) {
	defer t.release()
	return t.run(ctx, editor, false, func(ctx context.Context) (*request, error) {
		var questions []mapping.Question
		for _, call := range t.undecided() {
			questions = append(questions, t.session.question(call))
		}
		given, err := answers(questions)
		if err != nil {
			return nil, err
		}
		if len(questions) == 0 {
			return nil, errors.New("bridge: no call waits for an answer: send a prompt")
		}
		for _, a := range given {
			at := slices.IndexFunc(questions, func(q mapping.Question) bool { return q.Call == a.Call })
			if at < 0 {
				return nil, fmt.Errorf("bridge: an answer to a question that was not asked")
			}
			t.session.decided[a.Call.Shown] = t.session.accept(questions[at], a)
		}
		if leg := t.session.unpause(); leg != nil {
			return &request{taskID: t.fold.TaskID, leg: leg}, nil
		}
		return t.answerRequest(ctx, nil, t.takeDecisions())
	})
}

// Follow follows a task that is under way. Questions that were not answered are asked
// again. If the agent refuses the subscription, that is the error.
func (t Turn) Follow(ctx context.Context, taskID string, editor Editor) (Result, error) {
	return t.followWith(ctx, taskID, nil, editor)
}

// followWith is Follow with metadata for the request.
func (t Turn) followWith(ctx context.Context, taskID string, metadata map[string]json.RawMessage, editor Editor) (Result, error) {
	defer t.release()
	return t.runWithoutMessage(ctx, editor, taskID, false, func(ctx context.Context) (begun, error) {
		stream, err := t.agent.opts.Client.Resubscribe(transport.WithMetadata(ctx, metadata), taskID)
		return begun{stream: stream, taskID: taskID}, err
	})
}

// LookOn is Follow where the agent may have refused that: it subscribes or polls, as the agent offers.
func (t Turn) LookOn(ctx context.Context, editor Editor) (Result, error) {
	defer t.release()
	return t.goOn(ctx, editor)
}

// goOn is LookOn without the release, for a task of which the session has shown something.
func (t Turn) goOn(ctx context.Context, editor Editor) (Result, error) {
	return t.runWithoutMessage(ctx, editor, t.session.taskID, false, nil)
}

// runWithoutMessage runs a turn that begins with something else than a message. send is nil
// for a task of which something was shown, and which is followed: the task as it was at its
// beginning tells nothing.
func (t Turn) runWithoutMessage(ctx context.Context, editor Editor, taskID string, fresh bool, send func(context.Context) (begun, error)) (Result, error) {
	return t.run(ctx, editor, fresh, func(context.Context) (*request, error) {
		beyond := send == nil || t.fold.TaskID == taskID && t.fold.State != "" && t.fold.State != a2a.StateSubmitted
		return &request{taskID: taskID, beyond: beyond, send: send}, nil
	})
}

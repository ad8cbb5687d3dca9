package task

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/cli/talk"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// pollPause is the time between two requests for a task whose agent does not stream.
	pollPause = time.Second
	// restPause is how long a task must have waited for an answer in prose before task
	// subscribe ends. Some agents keep the stream open then, since the answer may come
	// from elsewhere.
	restPause = 500 * time.Millisecond
)

// An onlooker is an editor that only watches. When it can show nothing more, the task
// goes on.
type onlooker struct {
	*talk.Editor
	answers bool
	shown   atomic.Bool
	gone    chan error // gets the error of stdout

	// These belong to Show.
	asking map[string]bool // the calls that wait for approval
	result bridge.Result
	// rests fires when the task has come to rest in a state that is not terminal.
	rests *time.Timer
	rest  chan bridge.Result
}

var _ bridge.Editor = (*onlooker)(nil)

// Show implements [bridge.Editor].
func (o *onlooker) Show(ctx context.Context, steps []mapping.Step) error {
	o.shown.Store(true)
	o.note(steps)
	err := o.Editor.Show(ctx, steps)
	if err == nil {
		return nil
	}
	return o.leave(ctx, err)
}

// leave ends the command. To return the error would end the turn, and so cancel the task.
func (o *onlooker) leave(ctx context.Context, err error) error {
	o.gone <- err
	<-ctx.Done()
	return ctx.Err()
}

// note records whether the task waits for somebody.
func (o *onlooker) note(steps []mapping.Step) {
	for i := range steps {
		s := &steps[i]
		switch s.Kind {
		case mapping.StepState:
			o.result = bridge.Result{State: s.State, TaskID: strings.Clone(s.TaskID), ContextID: strings.Clone(s.ContextID)}
		case mapping.StepTool:
			o.asking[s.Tool.ID] = s.Tool.Asks
		}
	}
	if o.rests != nil {
		o.rests.Stop()
	}
	if o.result.State != a2a.StateInputRequired || slices.Contains(slices.Collect(maps.Values(o.asking)), true) {
		return
	}
	result := o.result
	o.rests = time.AfterFunc(restPause, func() {
		select {
		case o.rest <- result:
		default: // it was told before
		}
	})
}

// Ask implements [bridge.Editor].
func (o *onlooker) Ask(ctx context.Context, questions []mapping.Question) ([]mapping.Answer, error) {
	if o.answers {
		answers, err := o.Editor.Ask(ctx, questions)
		if err != nil && ctx.Err() == nil {
			err = o.leave(ctx, err)
		}
		return answers, err
	}
	for _, q := range questions {
		o.Approver.Say("the agent waits for approval: %s; --approve ask lets you answer", safe.Short(talk.ToolName(q.Call), frame.MaxValue))
	}
	return nil, bridge.ErrPause
}

func subscribe(p *frame.Program, c *cli.Context) error {
	args := c.Args().Slice()
	answers := c.String("approve") != ""
	editor, err := talk.NewEditor(p, c, true)
	if err != nil {
		return err
	}
	l, err := reach.ReadyTask(p, c, args)
	if err != nil {
		return err
	}
	defer l.Close()
	agent := bridge.NewAgent(&l.Options)
	session := agent.NewSession(l.Options.Workspace)
	session.Resume("", args[0])
	turn, err := session.Begin()
	if err != nil {
		return err
	}
	view := &onlooker{Editor: editor, answers: answers, gone: make(chan error, 1),
		asking: map[string]bool{}, rest: make(chan bridge.Result, 1)}
	type ending struct {
		result bridge.Result
		err    error
	}
	done := make(chan ending, 1)
	go func() { // ends with the turn, or with the process: to end it earlier would cancel the task
		ctx := context.WithoutCancel(c.Context)
		r, err := turn.Follow(ctx, args[0], view)
		if refusal := (*a2a.Error)(nil); errors.As(err, &refusal) && !refusal.Unauthenticated() && !view.shown.Load() {
			// The agent may not stream, or the task may have ended. Agents use different errors
			// for that, even "not found" (a2a-go).
			r, err = poll(ctx, p, l, args[0], view, err)
		}
		done <- ending{r, err}
	}()
	select {
	case e := <-done:
		agent.Close()
		if e.err != nil {
			e.err = reach.DemoForgets(c, e.err)
		}
		return talk.Verdict(p, c, l, editor, e.result, e.err)
	case r := <-view.rest:
		return talk.Verdict(p, c, l, editor, r, nil)
	case err := <-view.gone:
		return err
	case <-c.Context.Done():
		return frame.ErrInterrupted
	}
}

// allHistory asks for all of a task's history: some agents send none by default.
const allHistory = 1 << 20

// poll asks for a task until it ends or waits for somebody. refusal tells why there is
// no stream; it is returned if the task cannot be fetched either.
func poll(ctx context.Context, p *frame.Program, l *reach.Link, taskID string, editor *onlooker, refusal error) (bridge.Result, error) {
	fold := mapping.NewFold()
	fold.Speak(l.Writing.Dialect)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return bridge.Result{}, ctx.Err()
		}
		task, err := l.Client.Get(ctx, taskID, allHistory)
		if err != nil {
			return bridge.Result{}, cmp.Or(refusal, err)
		}
		refusal = nil
		if steps := fold.Event(shown.Snapshot, task, nil); len(steps) > 0 {
			if err := editor.Show(ctx, steps); err != nil {
				return bridge.Result{}, err
			}
		}
		r := bridge.Result{State: fold.State, TaskID: fold.TaskID, ContextID: fold.ContextID}
		switch {
		case fold.State == a2a.StateFailed:
			return r, &mapping.TaskError{State: fold.State, Text: fold.FailText, Cause: fold.Err}
		case fold.State == a2a.StateRejected && strings.TrimSpace(fold.FailText) != "":
			p.Say("agent: %s", fold.FailText)
			return r, nil
		case fold.State.Terminal(), fold.State == a2a.StateInputRequired:
			return r, nil
		}
		timer.Reset(pollPause)
	}
}

package task

import (
	"context"
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
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// restPause is how long a task must have waited for an answer in prose before task
// subscribe ends. Some agents keep the stream open then, since the answer may come
// from elsewhere.
const restPause = 500 * time.Millisecond

// An onlooker is an editor that only watches. When it can show nothing more, the task
// goes on.
type onlooker struct {
	*talk.Editor
	answers bool
	shown   atomic.Bool // something of what the agent has said
	// ends gets how the command ends: with the turn, by the error of stdout, or as the task
	// rests. What comes later does not count.
	ends    chan func() error
	verdict func(result bridge.Result, err error) error

	// These belong to Show.
	asking map[string]bool // the calls that wait for approval
	result bridge.Result
	// rests fires when the task has come to rest in a state that is not terminal.
	rests *time.Timer
}

func (o *onlooker) end(by func() error) {
	select {
	case o.ends <- by:
	default:
	}
}

var _ bridge.Editor = (*onlooker)(nil)

func (o *onlooker) Show(ctx context.Context, steps []mapping.Step) error {
	o.noteState(steps)
	err := o.Editor.Show(ctx, steps)
	if err == nil {
		return nil
	}
	return o.leave(ctx, err)
}

// leave ends the command with an error, and returns when ctx ends. To return that error at
// once would end the turn, and so cancel the task.
func (o *onlooker) leave(ctx context.Context, err error) error {
	o.end(func() error { return err })
	<-ctx.Done()
	return ctx.Err()
}

// noteState notes whether the task waits for somebody: then the command ends soon.
func (o *onlooker) noteState(steps []mapping.Step) {
	for i := range steps {
		s := &steps[i]
		if s.Kind != mapping.StepConnection {
			o.shown.Store(true)
		}
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
	o.rests = time.AfterFunc(restPause, func() { o.end(func() error { return o.verdict(result, nil) }) })
}

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

func subscribe(p *frame.Program, c *cli.Context, l *reach.Link, id string) error {
	answers := c.String("approve") != ""
	editor, err := talk.NewEditor(p, c, true)
	if err != nil {
		return err
	}
	editor.Meets(c, l, l.Card)
	agent := bridge.NewAgent(&l.Options)
	session := agent.NewSession(l.Options.Workspace)
	session.Resume("", id)
	turn, err := session.Begin()
	if err != nil {
		return err
	}
	view := &onlooker{Editor: editor, answers: answers, ends: make(chan func() error, 1), asking: map[string]bool{}}
	view.verdict = func(result bridge.Result, err error) error { return talk.Verdict(p, c, l, editor, result, err) }
	go func() { // ends with the turn, or with the process: to end it earlier would cancel the task
		ctx := context.WithoutCancel(c.Context)
		r, err := turn.Follow(ctx, id, view)
		if e := a2a.ErrorOf(err); e != nil && !e.Unauthenticated() && !view.shown.Load() {
			refusal := err
			// The agent may not stream, or the task may have ended. Agents use different errors
			// for that, even "not found" (a2a-go).
			session.Resume("", id)
			if turn, err = session.Begin(); err == nil {
				r, err = turn.LookOn(ctx, view)
			}
			if err != nil && !view.shown.Load() {
				err = refusal
			}
		}
		view.end(func() error {
			agent.Close()
			return view.verdict(r, reach.DemoForgets(c, err))
		})
	}()
	select {
	case end := <-view.ends:
		return end()
	case <-c.Context.Done():
		return frame.ErrInterrupted
	}
}

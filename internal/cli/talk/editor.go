// Package talk shows a turn in a shell, and asks the user what the agent asks.
//
// [Turn] runs a turn in a goroutine, which it leaves behind if an interrupt does not end it within [InterruptWait].
package talk

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// An Editor is a [bridge.Editor] for a shell: an output shows, an approver answers.
type Editor struct {
	Format    string
	Output    output
	*Approver               // answers
	Screen    *frame.Screen // nil: there is none

	// Begun is called once the task is known, because a killed command does not reach its
	// end. It may be nil.
	Begun     func(contextID, taskID string)
	begunTask string // the task given to Begun
}

var _ bridge.Editor = (*Editor)(nil)

// An output shows a turn in one format. One goroutine at a time calls its methods.
type output interface {
	show(steps []mapping.Step) error
	// End writes the rest. failure is the agent's text about a failed task. It is called
	// once, also after an error.
	End(result bridge.Result, failure string) error
}

// NewEditor reads the options. stream: json has a line for each event, instead of one
// document at the end.
func NewEditor(p *frame.Program, c *cli.Context, stream bool) (*Editor, error) {
	format := c.String("output")
	if c.Bool("verbose") && format != frame.Text {
		return nil, frame.Usagef("--verbose goes with -o text: -o %s holds everything anyway", format)
	}
	e := &Editor{Format: format, Approver: &Approver{How: c.String("approve"), Terminal: p.Terminal, Say: p.Say}}
	switch {
	case format == frame.Text:
		e.Screen, p.Stdout, p.Stderr = frame.NewScreen(p.Stdout, p.Stderr)
		e.Approver.screen = e.Screen
		text := &TextOutput{Out: p.Stdout, Plain: frame.IsTerminal(p.Stdout), Say: p.Say, verbose: c.Bool("verbose"), screen: e.Screen}
		if e.Screen == nil && frame.SameStream(p.Stdout, p.Stderr) { // 2>&1 into a log
			text.Say = func(format string, args ...any) {
				_ = text.endLine() // a stdout that is gone needs none
				p.Say(format, args...)
			}
			e.Approver.Say = text.Say
		}
		e.Output = text
	case format == frame.JSON && stream:
		e.Output = &streamOutput{out: p.JSONOut(), say: p.Say}
	case format == frame.JSON:
		e.Output = &jsonOutput{out: p.JSONOut(), say: p.Say}
	default:
		e.Output = &eventsOutput{out: p.JSONOut()}
	}
	return e, nil
}

// Meets tells the editor of the agent, before a turn: who is waited for while nothing comes,
// and how it is asked.
func (e *Editor) Meets(c *cli.Context, l *reach.Link, card *a2a.Card) {
	name := cmp.Or(card.Name, "the agent")
	e.Screen.Now(name)
	switch o := e.Output.(type) {
	case *TextOutput:
		o.agent = name
	case *streamOutput:
		o.from = func() transport.Chosen { return l.Asked(c) }
	}
}

func (e *Editor) Show(_ context.Context, steps []mapping.Step) error {
	for i := range steps {
		if s := &steps[i]; e.Begun != nil && s.Kind == mapping.StepState && s.TaskID != "" && s.TaskID != e.begunTask {
			e.begunTask = strings.Clone(s.TaskID)
			e.Begun(strings.Clone(s.ContextID), e.begunTask)
		}
	}
	return e.Output.show(steps)
}

// InterruptWait bounds how long a turn may take to end after Ctrl-C. The bridge
// promises two seconds, and the reader of our output may be slow.
const InterruptWait = 2500 * time.Millisecond

// ErrStuck reports a turn that does not end in time: it is blocked in writing to a
// reader that does not read.
var ErrStuck = errors.New("the turn is stuck")

// Turn runs the turn, and cancels it when ctx ends.
func Turn(ctx context.Context, session *bridge.Session, run func(context.Context, bridge.Turn) (bridge.Result, error)) (bridge.Result, error) {
	t, err := session.Begin()
	if err != nil {
		return bridge.Result{}, err
	}
	patience, stop := context.WithCancel(context.Background())
	defer stop()
	defer context.AfterFunc(ctx, func() {
		session.Cancel()
		time.AfterFunc(InterruptWait, stop)
	})()
	result, ended, err := frame.Await(patience, func() (bridge.Result, error) {
		// Without ctx: a cancelled turn tells the agent, and shows what the agent still says.
		return run(context.WithoutCancel(ctx), t)
	})
	if !ended {
		return bridge.Result{}, ErrStuck
	}
	return result, err
}

// WaitsForApproval reports whether a task has a call that waits.
func WaitsForApproval(task *a2a.Event, dialect string) bool {
	fold := mapping.NewFold()
	fold.Speak(dialect)
	fold.Event(shown.Snapshot, task, nil)
	return len(fold.Calls.Open()) > 0
}

// Verdict ends the output, says what the result leaves to say, and returns the error that
// decides the exit status.
func Verdict(p *frame.Program, c *cli.Context, l *reach.Link, editor *Editor, result bridge.Result, err error) error {
	editor.Screen.End()
	interrupted := c.Context.Err() != nil
	var task *mapping.TaskError
	if err != nil && !errors.As(err, &task) {
		if interrupted {
			p.Say("cancelled")
			return errors.Join(frame.ErrInterrupted, editor.Output.End(result, ""))
		}
		end := editor.Output.End(result, "")
		if errors.As(err, new(*fs.PathError)) {
			return err // of stdout: once is enough
		}
		return errors.Join(err, end)
	}
	words := ""
	if task != nil {
		words = task.Text
		result.State = task.State
	}
	if err := editor.Output.End(result, words); err != nil {
		return err
	}
	switch {
	case interrupted:
		p.Say("%s", cancelled(result))
		return frame.ErrInterrupted
	case task != nil && task.State == a2a.StateAuthRequired:
		return task
	case task != nil:
		if task.Text != "" && editor.Format != frame.Events {
			// The cause was printed when it happened.
			task = &mapping.TaskError{State: task.State, Text: task.Text}
		}
		p.Say("%v", task)
	case result.State == a2a.StateRejected:
		p.Say("agent: the task was rejected")
	case result.State == a2a.StateCanceled:
		p.Say("agent: the task was cancelled")
	case result.Waits && editor.Format == frame.Text:
		p.Say("the agent waits for an answer: %s", resumes(c, l, result))
	}
	known := func(title string) bool { return slices.Contains(editor.Approver.refused, title) }
	if unanswered := slices.DeleteFunc(slices.Clone(result.Unanswered), known); len(unanswered) > 0 {
		p.Say("not allowed, because nobody answered: %s", strings.Join(unanswered, "; "))
	}
	if !c.Bool("fail") {
		return nil
	}
	return failure(result)
}

// failure returns the error that --fail makes of a result.
func failure(result bridge.Result) error {
	switch bad := []a2a.State{a2a.StateFailed, a2a.StateRejected, a2a.StateCanceled}; {
	case slices.Contains(bad, result.State), len(result.Unanswered) > 0:
		return frame.ErrFailed
	case result.Waits, len(result.Pending) > 0: // for words, or for an approval that is left to others
		return frame.ErrWaits
	}
	return nil
}

// cancelled tells what became of a task that Ctrl-C has cancelled.
func cancelled(result bridge.Result) string {
	switch {
	case result.State == a2a.StateCanceled || result.TaskID == "":
		return "cancelled"
	case result.State.Terminal():
		return "cancelled; the agent says that the task is " + string(result.State)
	}
	return "cancelled; the agent has not said yet that task " + result.TaskID + " has ended"
}

// resumes returns the command that continues a task, in shell syntax, or tells why
// there is none.
func resumes(c *cli.Context, l *reach.Link, r bridge.Result) string {
	command := reach.ProgramFor(c) + " send --task-id " + safe.ShellWord(r.TaskID) + ` "..."`
	if r.ContextID != "" {
		command += " (context " + r.ContextID + ")"
	}
	switch {
	case l.HTTP.Process != nil:
		return command + "; but the agent is ended now: that does only if it keeps its tasks"
	case c.String("agent") == reach.DemoAgent:
		return "it cannot come, because the demo that is built in ends with this command; answer on a terminal, or serve one that stays: a2astdio demo --listen :4000"
	}
	return command
}

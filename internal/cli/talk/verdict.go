package talk

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Verdict writes the rest of the output and decides the exit of send.
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
	told := func(title string) bool { return slices.Contains(editor.Approver.told, title) }
	if unanswered := slices.DeleteFunc(slices.Clone(result.Unanswered), told); len(unanswered) > 0 {
		p.Say("not allowed, because nobody answered: %s", strings.Join(unanswered, "; "))
	}
	if !c.Bool("fail") {
		return nil
	}
	return failure(result)
}

// failure returns the error that --fail makes of a result.
func failure(result bridge.Result) error {
	switch result.State {
	case a2a.StateFailed, a2a.StateRejected, a2a.StateCanceled:
		return frame.ErrFailed
	}
	switch {
	case len(result.Unanswered) > 0:
		return frame.ErrFailed
	case result.Waits:
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

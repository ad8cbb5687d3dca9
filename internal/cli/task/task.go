// Package task has the commands about tasks that the agent holds.
//
// task subscribe has the turn in a goroutine of its own, which ends with the turn or with the process: to end it
// earlier would cancel the task. How the command ends comes by one channel, from the turn or a timer.
package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/cli/talk"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func Command(p *frame.Program) *cli.Command {
	return p.Group("task",
		p.AgentCommand("task get ID", reach.OnTask(getTask),
			frame.Option{Flag: "history", Kind: frame.Number, Shown: "the agent's choice", Takes: "N", Help: "how many messages of it to get, the last ones; 0 for none"},
			frame.Output("A2A 1.0's Task")),
		p.AgentCommand("task list", reach.Reached(listTasks),
			frame.Option{Flag: "context-id", Takes: "ID", Help: "only the tasks of this context"},
			frame.Option{Flag: "state", Takes: "STATE", Help: "only the tasks in this state: " + stateWords()},
			frame.Option{Flag: "all", Kind: frame.Switch, Help: "all that the agent holds, not only the page that it gives at once"},
			frame.Output("A2A 1.0's ListTasksResponse")),
		p.AgentCommand("task cancel ID", reach.OnTask(cancelTask)),
		p.AgentCommand("task subscribe ID", reach.OnTask(subscribe),
			frame.Option{Flag: "output", Aliases: []string{"o"}, Default: frame.Text,
				Takes: "text|json|events", Help: "text is the agent's words, as they come; json is A2A 1.0's StreamResponse, one a line; events is one JSON object a line for everything that happens"},
			frame.Option{Flag: "approve", Shown: "leave it to others",
				Takes: "ask|once|always|reject", Help: "what to say when the agent asks whether it may do something; ask asks you on the terminal, and rejects if there is none"},
			frame.Option{Flag: "fail", Kind: frame.Switch, Help: "exit with 1 if the task failed, was rejected or cancelled; with 6 if it waits for somebody"},
			frame.Option{Flag: "verbose", Kind: frame.Switch, Help: "with -o text, tell on stderr what the agent thinks and which tools it uses"}),
		p.AgentCommand("task download ID", reach.OnTask(runDownload),
			frame.Option{Flag: "dir", Default: ".", Takes: "DIR", Help: "where to write them"},
			frame.Option{Flag: "force", Kind: frame.Switch, Help: "replace files that are there"}))
}

// notOffered says in words what a refusal means that knows no such method.
func notOffered(err error, what string) error {
	if a2a.ErrorOf(err).Has(a2a.CodeMethodNotFound) {
		return fmt.Errorf("%w: this agent does not offer %s", err, what)
	}
	return err
}

func getTask(p *frame.Program, c *cli.Context, l *reach.Link, id string) error {
	history := -1
	if frame.IsSet(c, "history") {
		history = c.Int("history")
	}
	task, err := l.Client.Get(c.Context, id, history)
	if err != nil {
		return reach.DemoForgets(c, notOffered(err, "to ask for a task"))
	}
	if frame.AsJSON(c) {
		return p.PrintJSON(talk.V1Task(task.Raw, l.Asked(c)))
	}
	return p.Show(taskPage(task, l.Writing.Dialect, reach.ProgramFor(c)))
}

func cancelTask(p *frame.Program, c *cli.Context, l *reach.Link, id string) error {
	task, err := l.Client.Cancel(c.Context, id)
	if err != nil {
		return reach.DemoForgets(c, notOffered(err, "to cancel a task"))
	}
	text := "task " + id + " is cancelled"
	if task.State != a2a.StateCanceled {
		text = "the agent has heard it; task " + id + " is " + string(task.State) + " now"
	}
	var out frame.Page
	out.Heading(text)
	return p.Show(&out)
}

// taskPage shows a task to people, in the order of the conversation: what was said, and
// what else there is, in a line each. speaks is the agent's dialect; program begins the
// commands that the page names.
func taskPage(task *a2a.Event, speaks, program string) *frame.Page {
	out, spoken := &frame.Page{}, &dialect.Spoken{}
	spoken.Speak(speaks)
	out.Field("task", task.TaskID)
	out.Field("context", task.ContextID)
	state := string(task.State)
	if task.Timestamp != "" {
		state += " (" + frame.When(task.Timestamp, time.DateTime) + ")"
	}
	out.Field("state", state)
	said := &frame.Page{}
	for m := range a2a.Each(task.History) {
		message(said, &m, spoken)
	}
	if task.HasMessage {
		message(said, &task.Message, spoken)
	}
	out.Section("What was said", said)
	artifacts(out, task, program)
	switch {
	case task.State != a2a.StateInputRequired:
	case talk.WaitsForApproval(task, speaks):
		out.Heading("It waits for approval: " + program + " task subscribe --approve ask " + task.TaskID)
	default:
		out.Heading("It waits for an answer: " + program + " send --task-id " + task.TaskID + " \"...\"")
	}
	return out
}

func message(out *frame.Page, m *a2a.Message, spoken *dialect.Spoken) {
	lead := "  agent"
	if m.Role == a2a.RoleUser {
		lead, spoken = "  you", &dialect.Spoken{}
	}
	for _, text := range partTexts(&m.Parts, spoken) {
		out.Field(lead, text)
	}
}

func artifacts(out *frame.Page, task *a2a.Event, program string) {
	came, files := &frame.Page{}, false
	for a := range a2a.Each(task.Artifacts) {
		text := cmp.Or(a.Name, a.ID)
		if a.Description != "" {
			text += ": " + safe.Short(a.Description, frame.MaxValue)
		}
		came.Text(2, text)
		for part := range a.Parts.All() {
			files = files || part.Kind == a2a.PartFile
		}
		for _, text := range partTexts(&a.Parts, &dialect.Spoken{}) {
			came.Text(6, text)
		}
	}
	out.Section("What came of it", came)
	if files {
		out.Heading(program + " task download " + task.TaskID + " gets the files.")
	}
}

// partTexts returns the texts, and a line on each other part. Texts that follow each other are
// one: servers keep the pieces of a stream as parts. spoken tells which data are thoughts.
func partTexts(parts *a2a.Parts, spoken *dialect.Spoken) (all []string) {
	var pieces []string
	for part := range parts.All() {
		if part.Kind == a2a.PartText {
			pieces = append(pieces, part.Text)
			continue
		}
		what, content := talk.PartSays(part)
		if subject, description, ok := spoken.Thought(part); ok {
			what, content = "thinks", talk.Thought(subject, description)
		}
		if content != "" {
			what += ": " + safe.Short(content, frame.MaxValue)
		}
		all = append(all, strings.Join(pieces, ""), what)
		pieces = nil
	}
	all = append(all, strings.Join(pieces, ""))
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}

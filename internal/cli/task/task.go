// Package task has the commands about tasks that the agent holds.
package task

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/cli/talk"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func Command(p *frame.Program) *cli.Command {
	return p.Group("task",
		p.AgentCommand("task get ID", getTask,
			&cli.IntFlag{Name: "history", Value: -1, DefaultText: "the agent's choice", Usage: "`N`: how many messages of it to get, the last ones; 0 for none"},
			frame.OutputFlag("A2A 1.0's Task")),
		p.AgentCommand("task list", listTasks,
			&cli.StringFlag{Name: "context-id", Usage: "`ID`: only the tasks of this context"},
			&cli.StringFlag{Name: "state", Usage: "`STATE`: only the tasks in this state: " + stateWords()},
			&cli.BoolFlag{Name: "all", Usage: "all that the agent holds, not only the page that it gives at once"},
			frame.OutputFlag("A2A 1.0's ListTasksResponse")),
		p.AgentCommand("task cancel ID", cancelTask),
		p.AgentCommand("task subscribe ID", subscribe,
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: frame.Text,
				Usage: "`text|json|events`: text is the agent's words, as they come; json is A2A 1.0's StreamResponse, one a line; events is one JSON object a line for everything that happens"},
			&cli.StringFlag{Name: "approve", DefaultText: "leave it to others",
				Usage: "`ask|once|always|reject`: what to say when the agent asks whether it may do something; ask asks you on the terminal, and rejects if there is none"},
			&cli.BoolFlag{Name: "fail", Usage: "exit with 1 if the task failed, was rejected or cancelled"},
			&cli.BoolFlag{Name: "verbose", Usage: "with -o text, tell on stderr what the agent thinks and which tools it uses"}),
		p.AgentCommand("task download ID", runDownload,
			&cli.StringFlag{Name: "dir", Value: ".", Usage: "`DIR`: where to write them"},
			&cli.BoolFlag{Name: "force", Usage: "replace files that are there"}))
}

func getTask(p *frame.Program, c *cli.Context) error {
	args := c.Args().Slice()
	history := -1
	if c.IsSet("history") {
		history = c.Int("history")
	}
	l, err := reach.ReadyTask(p, c, args)
	if err != nil {
		return err
	}
	defer l.Close()
	task, err := l.Client.Get(c.Context, args[0], history)
	if err != nil {
		return reach.DemoForgets(c, err)
	}
	if frame.AsJSON(c) {
		return p.Document(talk.V1Task(task.Raw))
	}
	return p.Show(taskPage(task, l.Writing.Dialect, reach.ProgramFor(c)))
}

func cancelTask(p *frame.Program, c *cli.Context) error {
	args := c.Args().Slice()
	l, err := reach.ReadyTask(p, c, args)
	if err != nil {
		return err
	}
	defer l.Close()
	task, err := l.Client.Cancel(c.Context, args[0])
	if err != nil {
		return reach.DemoForgets(c, err)
	}
	var out frame.Page
	text := "task " + args[0] + " is cancelled"
	if task.State != a2a.StateCanceled {
		text = "the agent has heard it; task " + args[0] + " is " + string(task.State) + " now"
	}
	out.B.WriteString(safe.Plain(text) + "\n")
	return p.Show(&out)
}

// taskPage shows a task to people, in the order of the conversation. dialect tells how
// the agent spells thoughts and tool calls; program begins the commands that the page
// names.
func taskPage(task *a2a.Event, dialect, program string) *frame.Page {
	out := &frame.Page{}
	out.Field("task", task.TaskID)
	out.Field("context", task.ContextID)
	state := string(task.State)
	if task.Timestamp != "" {
		state += " (" + frame.When(task.Timestamp, time.DateTime) + ")"
	}
	out.Field("state", state)
	t := retell(out, task, dialect)
	if task.Artifacts != nil {
		n, files := 0, false
		for a := range task.Artifacts {
			if n++; n == 1 {
				out.Heading("What came of it")
			}
			files = artifact(out, &a) || files
		}
		if files {
			out.Heading(program + " task download " + task.TaskID + " gets the files.")
		}
	}
	switch {
	case task.State != a2a.StateInputRequired:
	case len(t.fold.Open()) > 0:
		out.Heading("It waits for approval: " + program + " task subscribe --approve ask " + task.TaskID)
	default:
		out.Heading("It waits for an answer: " + program + " send --task-id " + task.TaskID + " \"...\"")
	}
	return out
}

type teller struct {
	out   *frame.Page
	fold  *mapping.Fold
	lead  string
	words string
	id    string
	begun bool
}

// retell writes all that a task holds.
func retell(out *frame.Page, task *a2a.Event, dialect string) *teller {
	t := &teller{out: out, fold: mapping.NewFold()}
	t.fold.Speak(dialect)
	if task.History != nil {
		for m := range task.History {
			t.message(task, &m)
		}
	}
	if task.HasMessage {
		t.message(task, &task.Message)
	}
	t.flush()
	return t
}

func (t *teller) message(task *a2a.Event, m *a2a.Message) {
	if m.Role == a2a.RoleUser {
		for part := range m.Parts.All() {
			t.part("you", m.ID, part)
		}
		return
	}
	ev := a2a.Event{Kind: a2a.EventMessage, TaskID: task.TaskID, ContextID: task.ContextID, Message: *m, HasMessage: true, Metadata: m.Metadata}
	for _, s := range t.fold.Event(shown.Live, &ev, nil) {
		if s.Repeats {
			continue
		}
		switch s.Kind {
		case mapping.StepText:
			t.say("agent", s.MessageID, s.Text)
		case mapping.StepThought:
			t.line("thinks", strings.Trim(s.Subject+": "+s.Description, ": "))
		case mapping.StepTool:
			if s.Changed&mapping.ToolState != 0 || s.New {
				state := strings.ToLower(s.Tool.Status.String())
				if s.Tool.Asks {
					state = "waits for approval"
				}
				t.line("tool", talk.ToolName(s.Tool)+": "+state)
			}
		case mapping.StepPart:
			t.part("agent", s.MessageID, s.Part)
		case mapping.StepError:
			t.line("error", s.Text)
		}
	}
}

func (t *teller) part(lead, id string, part *a2a.Part) {
	switch part.Kind {
	case a2a.PartText:
		t.say(lead, id, part.Text)
	default:
		t.line(lead, partSays(part))
	}
}

// say adds text, which may come in pieces.
func (t *teller) say(lead, id, text string) {
	if lead != t.lead || id != t.id {
		t.flush()
	}
	t.lead, t.id, t.words = lead, id, t.words+text
}

func (t *teller) line(lead, text string) {
	t.flush()
	t.lead, t.words = lead, frame.Short(text, frame.MaxValue)
	t.flush()
}

func (t *teller) flush() {
	if t.words == "" {
		return
	}
	if !t.begun {
		t.begun = true
		t.out.Heading("What was said")
	}
	t.out.Hanging(fmt.Sprintf("  %-*s", frame.FieldIndent-2, t.lead), frame.FieldIndent, t.words)
	t.words, t.lead, t.id = "", "", ""
}

// artifact shows an artifact, and reports whether it has files.
func artifact(out *frame.Page, a *a2a.Artifact) (files bool) {
	name := cmp.Or(a.Name, a.ID)
	text := ""
	if a.Description != "" {
		text = ": " + frame.Short(a.Description, frame.MaxValue)
	}
	out.Text(2, name+text)
	words := ""
	for part := range a.Parts.All() {
		if part.Kind == a2a.PartText {
			words += part.Text
			continue
		}
		files = files || part.Kind == a2a.PartFile
		words = flushed(out, words)
		out.Text(6, partSays(part))
	}
	flushed(out, words)
	return files
}

func flushed(out *frame.Page, words string) string {
	if words != "" {
		out.Text(6, words)
	}
	return ""
}

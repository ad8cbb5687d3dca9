package demo

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// A command is a slash command: how it is listed, and what it does.
type command struct {
	name, description string
	arguments         []slashCommandArgument
	sub               []command

	status string // after a successful start
	tell   func(args string) story
	broken string // the reason why it never starts
}

func (a *Agent) commands() []command {
	return []command{
		{name: "memory", description: "What the agent remembers until it is closed", sub: []command{
			{name: "show", description: "Say what is remembered", status: commandStarted, tell: a.memoryShow},
			{name: "add", description: "Remember a text", status: commandStarted, tell: a.memoryAdd,
				arguments: []slashCommandArgument{{"text", "What to remember", true}}},
		}},
		{name: "deploy", description: "Deploy, with a command that must be confirmed", status: commandAwaitingShell, tell: deploy,
			arguments: []slashCommandArgument{{"target", "Where to; \"staging\" if it is missing", false}}},
		{name: "reset", description: "Forget everything, which must be confirmed", status: commandAwaitingAction, tell: a.reset},
		{name: "fail", description: "Does not start", broken: "this command never starts"},
	}
}

// published returns commands in the form of commands/get.
func published(commands []command) []slashCommand {
	var list []slashCommand
	for _, c := range commands {
		list = append(list, slashCommand{Name: c.name, Description: c.description, Arguments: c.arguments, SubCommands: published(c.sub)})
	}
	return list
}

// lookup returns the command at a path, or why it cannot run.
func lookup(commands []command, path []string, args string) (command, error) {
	var c command
	for i, name := range path {
		at := slices.IndexFunc(commands, func(c command) bool { return c.name == name })
		if at < 0 {
			return c, fmt.Errorf("there is no command /%s", strings.Join(path[:i+1], " "))
		}
		c = commands[at]
		commands = c.sub
	}
	switch {
	case c.broken != "":
		return c, fmt.Errorf("%s", c.broken)
	case c.tell == nil:
		return c, fmt.Errorf("/%s needs a subcommand: %s", strings.Join(path, " "), listed(c.sub, func(s command) string { return s.name }))
	case args == "" && len(c.arguments) > 0 && c.arguments[0].IsRequired:
		return c, fmt.Errorf("/%s needs the argument %s", strings.Join(path, " "), c.arguments[0].Name)
	}
	return c, nil
}

// execute starts a command as a task. A client that accepts an event stream gets the
// response as its first event, and then the task's updates. Other clients get the
// response, and find the task by its execution ID.
func (a *Agent) execute(ctx context.Context, w http.ResponseWriter, req *request) error {
	var p executeSlashCommandRequest
	if len(req.params) == 0 {
		return invalidParams("params are missing")
	}
	if err := readStrictly(req.params, "ExecuteSlashCommandRequest", &p); err != nil {
		return invalidParams("%v", err)
	}
	if len(p.CommandPath) == 0 {
		return invalidParams("ExecuteSlashCommandRequest.command_path is empty")
	}
	var t *task
	var answer executeSlashCommandResponse
	args := strings.TrimSpace(p.Args)
	c, err := lookup(a.commands(), p.CommandPath, args)
	if err != nil {
		answer = executeSlashCommandResponse{Status: commandFailed, Message: err.Error()}
	} else {
		t = newTask(a.newSession()) // no message has begun it yet; the first one has the settings
		line := strings.TrimSpace("/" + strings.Join(p.CommandPath, " ") + " " + args)
		prompt := &message{ID: uuid.NewString(), Role: "user", Parts: []part{{Text: &line}}, TaskID: t.id, ContextID: t.session.contextID}
		if err := a.create(t, c.tell(args), prompt); err != nil {
			return err
		}
		answer = executeSlashCommandResponse{ExecutionID: t.id, Status: c.status, Message: "executing " + line}
	}
	if !req.events {
		if t != nil && c.status != commandStarted {
			// "Awaiting" must be true: the client may confirm at once.
			if err := t.settled(ctx, a.ctx, 0); err != nil {
				return err
			}
		}
		return req.answer(w, answer)
	}
	s := newEventStream(w, req)
	if s.send(answer) != nil || s.flush() != nil || t == nil {
		return nil
	}
	_ = s.follow(ctx, a, t, 1) // updates follow the response, without the task itself
	return nil
}

func (a *Agent) memoryShow(string) story {
	return func(r *run) {
		a.mu.Lock()
		text := strings.Join(a.notes, "\n")
		a.mu.Unlock()
		r.say(cmp.Or(text, "I remember nothing."))
	}
}

func (a *Agent) memoryAdd(args string) story {
	return func(r *run) {
		if r.think("Remembering", args); r.err != nil {
			return
		}
		a.mu.Lock()
		a.notes = append(a.notes, args)
		a.mu.Unlock()
		r.say("I remember: ", args)
	}
}

func (a *Agent) reset(string) story {
	return func(r *run) {
		c := toolCall{
			ID: uuid.NewString(), Name: "reset", Description: "Forget everything", Input: map[string]any{},
			Confirmation: &confirmationRequest{Options: options(), Generic: &genericDetails{Description: "Forget everything that was remembered"}},
		}
		given := r.approve(c)[c.ID]
		if !given.approved() {
			r.say("I forget nothing.\n")
			return
		}
		a.mu.Lock()
		a.notes = nil
		a.mu.Unlock()
		r.ran(given, "forget everything")
		text := "forgotten"
		r.succeed(c, toolOutput{Text: &text})
		r.say("I forgot everything.\n")
	}
}

func deploy(args string) story {
	return func(r *run) {
		target := cmp.Or(args, "staging")
		r.askAndExecute(r.command("deploy --to "+target, "Deploy to "+target), "building\n", "uploading\n", "live on "+target+"\n")
	}
}

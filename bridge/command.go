package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Commands returns the agent's slash commands; none, without an error, for an agent that has
// none. It is asked until it has told them: one that does not answer later would get a command
// as a prompt.
func (a *Agent) Commands(ctx context.Context) ([]acp.Command, error) {
	_, w, err := a.Ready(ctx)
	if err != nil {
		return nil, err
	}
	if known := a.commands.Load(); known != nil {
		return *known, nil
	}
	commands := w.SlashCommands()
	if commands.Run == nil {
		return nil, nil
	}
	_, raw, err := a.sideRequest(ctx, commands.List, false)
	if a2a.ErrorOf(err) != nil {
		// An agent that does not offer the method has no commands: that is no error.
		a.opts.Log.Debug("the agent has no commands", "err", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := dialect.Commands(raw)
	a.commands.Store(&list)
	return list, nil
}

// commandRequest returns the request of a prompt that begins with one of the agent's
// slash commands; nil for any other prompt.
func (t *turn) commandRequest(ctx context.Context, prompt []acp.ContentBlock) *request {
	if len(prompt) == 0 || prompt[0].Type != "text" || !strings.HasPrefix(strings.TrimSpace(prompt[0].Text), "/") {
		return nil
	}
	commands, err := t.agent.Commands(ctx)
	if err != nil {
		t.agent.opts.Log.Debug("asking for the agent's commands", "err", err)
	}
	path, args, ok := findCommand(commands, prompt[0].Text)
	if !ok {
		return nil
	}
	t.isCommand = true
	return &request{send: func(ctx context.Context) (begun, error) { return t.execute(ctx, path, args) }}
}

// sideRequest makes a request of a dialect's own, and returns its stream or, if it has none,
// its JSON. long: see [transport.Call].
func (a *Agent) sideRequest(ctx context.Context, c dialect.SideRequest, long bool) (*transport.Stream, json.RawMessage, error) {
	return a.opts.Client.Call(ctx, transport.Call{Method: c.Method, Path: c.Path, Params: c.Params, Long: long})
}

// execute runs a slash command. It is sent as a streaming call. An agent that answers
// with JSON has either named a task, whose stream is subscribed to, or executed the
// command already.
func (t *turn) execute(ctx context.Context, path []string, args string) (b begun, err error) {
	commands := t.writing.SlashCommands()
	if commands.Run == nil {
		return b, errors.New("bridge: the agent has no slash commands that are known: see --dialect")
	}
	stream, raw, err := t.agent.sideRequest(ctx, commands.Run(path, args), true)
	if err != nil || stream != nil {
		return begun{stream: stream}, err
	}
	if commands.Text != nil {
		b.steps = []mapping.Step{{Kind: mapping.StepText, Text: commands.Text(raw), MessageID: t.agent.opts.NewID()}}
		return b, nil
	}
	e, ok := dialect.ReadExecution(a2a.JSON(raw))
	switch {
	case !ok:
		return b, fmt.Errorf("agent: answered the command with something else than an execution: %.200s", raw)
	case e.Err() != nil:
		return b, e.Err()
	case e.ID == "":
		return b, errors.New("agent: started the command without saying under which task")
	}
	b.taskID, b.execution = e.ID, e
	b.then = func(ctx context.Context) (begun, error) {
		stream, err := t.agent.opts.Client.Resubscribe(ctx, e.ID)
		return begun{stream: stream}, err
	}
	if text := e.Notice(); text != "" {
		b.steps = []mapping.Step{{Kind: mapping.StepNotice, TaskID: e.ID, Text: text, Harmless: true}}
	}
	return b, nil
}

// findCommand returns the words of the command that a prompt begins with, and what follows
// them; false: there is none. Of several it is the one with the longest name.
func findCommand(commands []acp.Command, prompt string) (path []string, args string, ok bool) {
	rest, best := strings.TrimPrefix(strings.TrimSpace(prompt), "/"), ""
	for _, c := range commands {
		if len(c.Name) <= len(best) || !strings.HasPrefix(rest, c.Name) {
			continue
		}
		if after := rest[len(c.Name):]; after == "" || after[0] == ' ' || after[0] == '\n' {
			best, args = c.Name, strings.TrimSpace(after)
		}
	}
	return strings.Fields(best), args, best != ""
}

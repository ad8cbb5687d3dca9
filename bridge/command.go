package bridge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Commands returns the agent's slash commands; none, without an error, for an
// agent that has none. They are asked for once.
func (a *Agent) Commands(ctx context.Context) ([]mapping.Command, error) {
	_, w, err := a.Ready(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked {
		return a.commands, nil
	}
	var raw []byte
	switch w.Dialect {
	case mapping.DialectDevtool:
		raw, err = a.opts.Client.Call(ctx, "commands/get", struct{}{})
	case mapping.DialectGemini:
		_, raw, err = a.opts.Client.Fetch(ctx, "/listCommands", nil)
	}
	if refusal := (*a2a.Error)(nil); errors.As(err, &refusal) {
		// An agent that does not offer them has none: no noise.
		a.opts.Log.Debug("the agent has no commands", "err", err)
		err = nil
	}
	if err != nil {
		return nil, err
	}
	a.asked, a.commands = true, mapping.Commands(raw)
	return a.commands, nil
}

// command returns what to send for a prompt that begins with one of the agent's
// slash commands; nil for any other prompt.
func (t *turn) command(ctx context.Context, prompt []acp.ContentBlock) *request {
	if len(prompt) == 0 || prompt[0].Type != "text" || !strings.HasPrefix(strings.TrimSpace(prompt[0].Text), "/") {
		return nil
	}
	commands, err := t.agent.Commands(ctx)
	if err != nil {
		t.agent.opts.Log.Debug("asking for the agent's commands", "err", err)
	}
	path, args, ok := mapping.FindCommand(commands, prompt[0].Text)
	if !ok {
		return nil
	}
	t.isCommand = true
	if t.writing.Dialect == mapping.DialectGemini {
		return &request{send: func(ctx context.Context) (*transport.Stream, string, error) {
			return t.geminiCommand(ctx, path, args)
		}}
	}
	return &request{send: func(ctx context.Context) (*transport.Stream, string, error) {
		return t.agent.Execute(ctx, path, args)
	}}
}

// Execute runs a slash command by the development-tool extension's
// command/execute. It is sent as a streaming call. An agent that answers with
// JSON has named a task, whose stream is subscribed to.
func (a *Agent) Execute(ctx context.Context, path []string, args string) (*transport.Stream, string, error) {
	stream, raw, err := a.opts.Client.CallStream(ctx, "command/execute", mapping.ExecuteParams(path, args))
	if err != nil || stream != nil {
		return stream, "", err
	}
	e, ok := mapping.ReadExecution(a2a.JSON(raw))
	switch {
	case !ok:
		return nil, "", fmt.Errorf("agent: answered command/execute with something else than an execution: %.200s", raw)
	case e.Failed:
		return nil, "", e.Err()
	case e.ID == "":
		return nil, "", errors.New("agent: started the command without saying under which task")
	}
	stream, err = a.opts.Client.Resubscribe(ctx, e.ID, "")
	return stream, e.ID, err
}

// geminiCommand runs a command of Gemini's server, which has a way of its own
// for that: most answer with a document at once.
func (t *turn) geminiCommand(ctx context.Context, path []string, args string) (*transport.Stream, string, error) {
	body := struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{Command: strings.Join(path, " "), Args: strings.Fields(args)}
	stream, raw, err := t.agent.opts.Client.Fetch(ctx, "/executeCommand", body)
	if err != nil || stream != nil {
		return stream, "", err
	}
	text := mapping.GeminiCommandResult(raw)
	return nil, "", t.editor.Show(ctx, []mapping.Step{{Kind: mapping.StepText, Text: text, MessageID: t.agent.opts.NewID()}})
}

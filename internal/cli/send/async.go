package send

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/cli/talk"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// message reads a message's options, and refuses those that exclude each other.
func message(c *cli.Context) (*a2a.Outgoing, error) {
	m := &a2a.Outgoing{TaskID: c.String("task-id"), ContextID: c.String("context-id")}
	if c.Bool("continue") && (m.TaskID != "" || m.ContextID != "") {
		return nil, frame.Usagef("--continue goes on with the last conversation, --task-id and --context-id with the one that they name")
	}
	if c.Bool("continue") && c.Bool("no-history") {
		return nil, frame.Usagef("--no-history keeps nothing of conversations, so there is none that --continue could go on with")
	}
	metadata, err := reach.JsonObject("metadata", c.String("metadata"))
	if err != nil {
		return nil, err
	}
	if metadata != nil {
		if err := json.Unmarshal(metadata, &m.Metadata); err != nil {
			return nil, frame.Usagef("--metadata: %v", err)
		}
	}
	format := c.String("output")
	switch {
	case c.Bool("stream") && format != frame.JSON:
		return nil, frame.Usagef("--stream goes with -o json: -o text and -o events stream anyway")
	case !c.Bool("async"):
	case c.Bool("stream"), format == frame.Events:
		return nil, frame.Usagef("--async waits for nothing, so there is nothing to stream: task subscribe waits")
	case c.Bool("fail"), frame.IsSet(c, "approve"), c.Bool("verbose"):
		return nil, frame.Usagef("--async does not wait for what --fail, --approve and --verbose are about: task subscribe has them")
	}
	return m, nil
}

// sendAsync sends a prompt and does not wait for the task's end.
func sendAsync(p *frame.Program, c *cli.Context, l *reach.Link, t *thread, agent *bridge.Agent, m *a2a.Outgoing, format string) error {
	if l.Ends {
		return frame.Usagef("--async leaves the task to the agent, and this one ends with a2astdio: it needs one that goes on, such as a2astdio demo --listen :4000")
	}
	_, w, err := agent.Ready(c.Context)
	if err != nil {
		return err
	}
	if w.Traits().HangUpStops {
		return frame.Usagef("--async leaves the task to the agent, and this one stops its work when the request ends: send without --async waits for it")
	}
	m.ID = uuid.NewString()
	if m.TaskID == "" && !w.Settled(m) {
		settings := dialect.AgentSettings{Workspace: l.Options.Workspace, Extra: l.Options.AgentSettings}
		if err := w.Apply(settings, m); err != nil {
			return err
		}
	}
	answer, err := l.Client.SendOnce(c.Context, m, false)
	if err != nil {
		return lost(c, l, m.TaskID, err)
	}
	if answer.State.Terminal() {
		t.keep(answer.ContextID, "")
	} else {
		t.keep(answer.ContextID, answer.TaskID)
	}
	if format == frame.JSON {
		return p.Document(talk.V1Event(answer.Raw))
	}
	if answer.Kind != a2a.EventMessage {
		_, err := fmt.Fprintln(p.Stdout, frame.OneLine(safe.Plain(answer.TaskID)))
		return err
	}
	p.Say("the agent has answered at once, without a task")
	text := answer.Message.Parts.Text()
	if frame.IsTerminal(p.Stdout) {
		text = safe.Plain(text)
	}
	_, err = fmt.Fprintln(p.Stdout, text)
	return err
}

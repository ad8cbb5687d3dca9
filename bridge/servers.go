package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// An MCPFile is a file from which an agent that was started for us reads MCP servers,
// each time that it makes a task. They hold tokens, and are one session's: so the file
// is there only while a task is made.
type MCPFile interface {
	// Put writes the file, and returns a function that removes it.
	Put(content []byte) (remove func() error, err error)
}

// makeTaskLimit is how long an agent may take to make a task: it starts the MCP servers
// meanwhile.
const makeTaskLimit = time.Minute

// Notices for a user whose MCP servers do not get to the agent.
const (
	serversStarting = "[The agent is starting your editor's MCP servers.]\n\n"
	serversNowhere  = "[The agent has not got your editor's MCP servers: A2A has no words for them, and neither has this agent.]\n\n"
	serversNotOurs  = "[The agent has not got your editor's MCP servers: it reads them from files of its own. It gets them if a2astdio starts it, by --agent-command.]\n\n"
	serversFailed   = "[The agent has not got your editor's MCP servers: %v]\n\n"
	serversIgnored  = "[The agent has not taken these MCP servers of your editor's: %s. Newer builds of Gemini CLI's server take none in a workspace that is not trusted. " +
		"If you trust what this one holds, its own settings and servers included, say so: --agent-settings '{\"isTrusted\":true}'.]\n\n"
)

// servers are the MCP servers that the agent gets, as ACP spells them. An agent elsewhere does
// not reach those of the editor's tools, and may not have their token.
func (s *Session) servers() (list []json.RawMessage) {
	if s.agent.opts.ForwardMCP {
		list = slices.Clip(s.mcp)
	}
	if s.own != nil && s.agent.opts.Client.Local() {
		list = append(list, s.own)
	}
	return list
}

// forwardServers sees to it that a task which m begins has the editor's MCP servers, if
// the user wants that. Where they are no part of the settings, it has the task made before
// the message, and writes its ID into m. A failure is told once in a session, and the
// message is sent without them.
func (t *turn) forwardServers(ctx context.Context, m *a2a.Outgoing) error {
	s, opts := t.session, &t.agent.opts
	if m.TaskID != "" || len(s.servers()) == 0 || t.writing.Traits().ServersInSettings {
		return nil
	}
	contextID := m.ContextID
	if contextID == "" {
		contextID = opts.NewID() // the answer does not tell which the agent would make
	}
	o, err := t.writing.Opening(s.agentSettings(), contextID)
	switch {
	case err != nil:
		return t.tellServers(ctx, fmt.Sprintf(serversFailed, err))
	case o == nil:
		return t.tellServers(ctx, serversNowhere)
	case opts.MCPFile == nil:
		return t.tellServers(ctx, serversNotOurs)
	}
	var id string
	var missing []string
	if unshown := t.waitFor(ctx, serversStarting, func() { id, missing, err = t.agent.makeTask(ctx, o) }); unshown != nil {
		return unshown
	}
	switch {
	case ctx.Err() != nil, a2a.ErrorOf(err).Unauthenticated():
		return err // the message would fail for the same reason
	case err != nil:
		return t.tellServers(ctx, fmt.Sprintf(serversFailed, err))
	}
	m.TaskID, m.ContextID, m.ReferenceTaskIDs = id, contextID, nil
	s.taskID, s.contextID = id, contextID
	if len(missing) > 0 {
		return t.tellServers(ctx, fmt.Sprintf(serversIgnored, strings.Join(missing, ", ")))
	}
	return nil
}

func (t *turn) tellServers(ctx context.Context, text string) error {
	if !t.session.firstTime(ofServers) {
		return nil
	}
	return t.editor.Show(ctx, []mapping.Step{{Kind: mapping.StepNotice, Text: text}})
}

// makeTask has the agent make a task, and returns its ID and the names of the MCP servers that it
// has not taken. One task is made at a time: each has servers of its own.
func (a *Agent) makeTask(ctx context.Context, o *dialect.Opening) (id string, missing []string, err error) {
	ctx, stop := context.WithTimeout(ctx, makeTaskLimit)
	defer stop()
	select {
	case a.makingTask <- struct{}{}:
		defer func() { <-a.makingTask }()
	case <-ctx.Done():
		return "", nil, ctx.Err()
	}
	remove, err := a.opts.MCPFile.Put(o.File)
	if err != nil {
		return "", nil, err
	}
	_, raw, err := a.sideRequest(ctx, o.Make, true)
	if err := remove(); err != nil {
		a.opts.Log.Warn("the file of MCP servers is not removed", "err", err)
	}
	if err != nil {
		return "", nil, err
	}
	id, servers, err := o.Task(raw)
	if err != nil {
		return "", nil, err
	}
	_, raw, err = a.sideRequest(ctx, servers, true)
	if err != nil {
		// The task exists then, but whether it has the servers is not known.
		a.opts.Log.Warn("which MCP servers the agent has taken is not known", "err", err)
		return id, nil, nil
	}
	return id, o.Missing(raw), nil
}

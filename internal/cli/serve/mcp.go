package serve

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/safe"
)

// MCPCommand is the command mcp: the agents as tools of an MCP client's model.
func MCPCommand(p *frame.Program) *cli.Command {
	return p.AgentCommand(reach.MCPCommand, serveMCP)
}

// serveMCP serves an MCP client. What is wrong with the settings is what the tools answer: a
// client would not show why a program has ended.
func serveMCP(p *frame.Program, c *cli.Context) error {
	l := &reach.Link{}
	defer l.Close()
	agents := &mcpAgents{p: p, c: c, l: l, opened: map[string]*bridge.Agent{}, fault: l.BridgeOptions(c)}
	o := &l.Options
	if names, err := agents.Names(); err == nil { // else the tools say why
		if _, err := agents.Open(c.Context, names[0]); err == nil {
			first := agents.first
			o.AnswerWithin, o.OnEOF, o.Tap = first.AnswerWithin, first.OnEOF, first.Tap // its trace has the client's wire
		}
	}
	o.Version, o.Protocol, o.Agents = p.Version, bridge.ProtocolMCP, agents
	if frame.IsTerminal(p.Stdin) {
		p.Say("an MCP client would speak to this on stdin now: a2astdio setup --editor prints its settings (Ctrl-D ends this)")
	}
	p.Serving = true
	return serveTuned(p, c, o)
}

// mcpAgents are the agents of the options, or else of the configuration.
type mcpAgents struct {
	p      *frame.Program
	c      *cli.Context
	l      *reach.Link // ends with the client, and the agents with it
	fault  error       // what is wrong with the options
	opened map[string]*bridge.Agent
	first  *bridge.Options // of the agent that was opened first
}

var _ bridge.Agents = (*mcpAgents)(nil)

// Names implements [bridge.Agents]. The files are read each time: setup may have changed them.
func (a *mcpAgents) Names() ([]string, error) {
	if a.fault != nil {
		return nil, explainSetup(a.fault)
	}
	conf, err := reach.ReadConfiguration(a.c, reach.WorkspaceOf(a.c))
	if err != nil {
		return nil, explainSetup(err)
	}
	names := conf.Files.Names()
	switch {
	case conf.AgentGiven != "" || conf.Files.From.Workspace, len(names) == 0 && (conf.Agent != "" || conf.Command != ""):
		return []string{nameOf(conf)}, nil
	case len(names) == 0:
		return nil, errors.New("bridge: no agent is set up yet: the user runs this in a terminal: " + safe.ShellWord(reach.Self()) + " setup")
	case conf.Name != "": // the default, which is the first
		names = append([]string{conf.Name}, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == conf.Name })...)
	}
	return names, nil
}

// nameOf returns what a model calls an agent: its name in the files, if it has one.
func nameOf(conf *reach.Configuration) string {
	switch {
	case conf.Name != "":
		return conf.Name
	case conf.Agent == reach.DemoAgent:
		return reach.DemoAgent
	}
	return "agent"
}

func (a *mcpAgents) Open(ctx context.Context, name string) (*bridge.Agent, error) {
	if agent := a.opened[name]; agent != nil {
		return agent, nil
	}
	l, err := reach.Reopen(ctx, a.p, func(c *cli.Context) error {
		conf, err := reach.ReadConfiguration(c, reach.WorkspaceOf(c))
		if err != nil {
			return err
		}
		trace := c.String("trace")
		if v := conf.Files.Value("trace"); trace == "" && v != nil {
			trace = v.Text
		}
		if trace != "" && trace != "-" && len(a.opened) > 0 {
			if err := c.Set("trace", trace+"."+name); err != nil { // the first has the file
				return err
			}
		}
		if nameOf(conf) == name {
			a.p.Others = false
			return nil
		}
		a.p.Others = conf.Agent != "" || conf.Command != "" || len(conf.Files.Names()) > 1
		if err := c.Set("agent-command", ""); err != nil {
			return err
		}
		return c.Set("agent", name)
	})
	if err != nil {
		return nil, explainSetup(err)
	}
	sessions, err := store.Open("")
	if err != nil {
		l.Options.Log.Warn("conversations are not stored", "err", err)
	}
	addStore(l, sessions)
	agent := bridge.NewAgent(&l.Options)
	a.opened[name], a.first = agent, cmp.Or(a.first, &l.Options)
	a.l.Closers = append(a.l.Closers, func() error {
		agent.Close()
		l.Close()
		return nil
	})
	return agent, nil
}

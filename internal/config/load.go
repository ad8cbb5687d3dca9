package config

import (
	"cmp"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// Options are known before a file is read.
type Options struct {
	// File is the user's file, which then must exist. Empty is [UserFile], which need not.
	File string
	// Workspace is the user's working directory, whose file is read, too; empty for none.
	Workspace string
	// Agent is the agent that an option or a variable names, "" if none does. It may be a
	// defined name.
	Agent string
	// Mode is the mode that an option or a variable sets, "" if none does. A workspace's
	// file may be as lax as that.
	Mode string
}

// A Config is the content of the files.
type Config struct {
	// File is the user's file, whether or not it exists; Workspace is the workspace's, ""
	// if there is none.
	File, Workspace string
	// Exists: the user's file exists.
	Exists bool
	// Agent is the agent, "" if none is set: a URL, the file of a card, demo, or, if
	// Named, the name of a defined agent.
	Agent string
	Named bool
	// From is where Agent was set; the zero value if it is [Options.Agent].
	From  Origin
	names []string
	// values are the workspace's, the used agent's and those of the top, in this order.
	values []Value
}

// Load reads the user's file and the workspace's. A missing file is empty. An error is a
// Problem, a sentence for the user; then no value counts. The values of agents that are not
// used are not looked at: see [List].
func Load(opts *Options) (*Config, error) {
	c, user, workspace, err := readBoth(opts)
	if err != nil {
		return nil, err
	}
	top, theirs := user.values(user.top, Top, ""), workspace.values(workspace.top, Workspace, "")
	c.choose(opts, top, theirs)
	if c.Named = user.agents[c.Agent] != nil; c.Named {
		c.values = user.agent(c.Agent)
	}
	c.values = append(c.values, top...)
	if c.From.File != "" && !c.From.Workspace && !c.Named {
		// If it is no name, the user's default is a value for --agent.
		if ValidName(c.Agent) {
			user.problem(c.NoAgent(c.Agent), "agent")
		} else if c.Agent != demo {
			c.Agent = resolve(c.Agent, c.From.File)
		}
	}
	c.checkWorkspace(opts, workspace, theirs)
	if err := cmp.Or(user.err(), workspace.err()); err != nil {
		return nil, err
	}
	return c, nil
}

func readBoth(opts *Options) (c *Config, user, workspace *file, err error) {
	c = &Config{File: cmp.Or(opts.File, UserFile())}
	var data []byte
	var info fs.FileInfo
	if c.File != "" {
		if data, info, err = readUser(c.File, opts.File != ""); err != nil {
			return nil, nil, nil, err
		}
		c.Exists = info != nil
	}
	user, workspace = decode(c.File, data, false), &file{}
	c.names = slices.Sorted(maps.Keys(user.agents))
	if opts.Workspace == "" {
		return c, user, workspace, nil
	}
	path := filepath.Join(opts.Workspace, FileName)
	data, err = readWorkspace(path, info)
	if err != nil {
		return nil, nil, nil, err
	}
	if data != nil {
		c.Workspace, workspace = path, decode(path, data, true)
	}
	return c, user, workspace, nil
}

// choose finds out who names the agent: an option, the workspace, or the user's file.
func (c *Config) choose(opts *Options, top, workspace []Value) {
	c.Agent = opts.Agent
	for _, v := range slices.Concat(workspace, top) {
		if v.Key.Name == "agent" && c.Agent == "" {
			c.Agent, c.From = v.Text, v.From
		}
	}
}

// A Named is an agent that the user's file defines.
type Named struct {
	// One of URL and Command is set, unless Err says otherwise.
	Name, URL, Command string
	// Default: it is used when no agent is named.
	Default bool
	// Err is what is wrong with its table, nil if nothing is.
	Err error
}

// List returns all agents of the user's file, by name.
func List(opts *Options) (*Config, []Named, error) {
	c, user, _, err := readBoth(opts)
	if err != nil {
		return nil, nil, err
	}
	top := user.values(user.top, Top, "")
	if err := user.err(); err != nil {
		return nil, nil, err
	}
	c.choose(opts, top, nil)
	var list []Named
	for _, name := range c.names {
		user.fault = nil
		n := Named{Name: name, Default: name == c.Agent}
		for _, v := range user.agent(name) {
			switch v.Key.Name {
			case "url":
				n.URL = v.Text
			case "command":
				n.Command = v.Text
			}
		}
		n.Err = user.err()
		list = append(list, n)
	}
	c.values = top
	return c, list, nil
}

// Names returns the names of the defined agents, sorted.
func (c *Config) Names() []string { return c.names }

// NoAgent says that no agent has this name, and which one was probably meant.
func (c *Config) NoAgent(name string) string {
	text := "there is no agent " + shown(name)
	switch near := safe.Nearest(name, c.names); {
	case near != "":
		return text + ": did you mean " + near + "?"
	case len(c.names) == 0:
		return text + ": none is defined, and a2astdio setup defines one"
	}
	return text + ": a2astdio agents lists those that there are"
}

// Value returns a key's value, nil if no file has one: the workspace's first, then the
// used agent's, then the top of the user's file.
func (c *Config) Value(key string) *Value {
	for i := range c.values {
		if c.values[i].Key.Name == key {
			return &c.values[i]
		}
	}
	return nil
}

// UserValue returns a key's value at the top of the user's file, nil if there is none.
func (c *Config) UserValue(key string) *Value {
	for i := range c.values {
		if v := &c.values[i]; v.Key.Name == key && v.From.Agent == "" && !v.From.Workspace {
			return v
		}
	}
	return nil
}

// Errors for refused keys, and the reason, which is given once.
const (
	refused       = " is refused: the file of a workspace cannot say that"
	workspaceRule = "this file comes with what one clones, so it may say two things only: " +
		"agent, the name of an agent that your own file defines, and mode, a stricter one than yours"
)

// checkWorkspace checks the workspace's values against the user's, and takes them.
func (c *Config) checkWorkspace(opts *Options, f *file, values []Value) {
	yours := c.modeOfUser()
	for _, v := range values {
		switch v.Key.Name {
		case "agent":
			switch {
			case !ValidName(v.Text):
				f.problem("agent is refused: in a workspace it is the name of an agent that your own file defines", "agent")
			case !slices.Contains(c.names, v.Text):
				f.problem("agent is refused: "+c.NoAgent(v.Text)+" (yours are in "+c.File+")", "agent")
			}
		case "mode":
			if laxness(v.Text) > max(laxness(yours), laxness(opts.Mode)) {
				f.problem("mode is refused: "+v.Text+" is laxer than yours, which is "+yours, "mode")
				continue
			}
			c.values = append([]Value{v}, c.values...)
		}
	}
	if v := c.Value("mode"); c.From.Workspace && v != nil && v.From.Agent != "" && laxness(v.Text) > laxness(yours) {
		c.values = append([]Value{{Key: v.Key, Text: yours, From: c.From}}, c.values...)
	}
	if f.fault != nil {
		f.fault.Text += "; " + workspaceRule
	}
}

// modeOfUser is the mode than which a workspace's may not be laxer. An agent's own mode
// holds if the user names that agent. If the workspace names it, the agent gets the
// mode that holds without it.
func (c *Config) modeOfUser() string {
	own := c.Value("mode")
	if c.ChosenByWorkspace() {
		own = c.UserValue("mode")
	}
	if own == nil {
		return "default"
	}
	return own.Text
}

// ChosenByWorkspace reports whether the workspace's file alone has chosen the agent: the
// user has defined it, and names another one, or none.
func (c *Config) ChosenByWorkspace() bool {
	own := c.UserValue("agent")
	return c.From.Workspace && (own == nil || own.Text != c.Agent)
}

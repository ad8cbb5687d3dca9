package config

import (
	"io/fs"
	"path/filepath"
	"strings"
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
	From   Origin
	agents []seen
	values []Value
}

// Load reads the user's file and the workspace's. A missing file is empty. An error is
// one or several Problems, each a sentence for the user; then no value counts.
func Load(opts *Options) (*Config, error) {
	c, _, err := load(opts, "")
	return c, err
}

func load(opts *Options, want string) (*Config, *file, error) {
	c := &Config{File: opts.File}
	if c.File == "" {
		c.File = UserFile()
	}
	user, workspace := &file{path: c.File, want: want}, &file{workspace: true}
	var data []byte
	var info fs.FileInfo
	var err error
	if c.File != "" {
		if data, info, err = readUser(c.File, opts.File != ""); err != nil {
			return nil, nil, err
		}
		c.Exists = info != nil
	}
	if err := c.readWorkspace(workspace, opts.Workspace, info); err != nil {
		return nil, nil, err
	}
	c.Agent = opts.Agent
	if v := find(workspace.values, "agent"); v != nil && c.Agent == "" {
		c.Agent, c.From = v.Text, v.From
	}
	if user.want == "" && ValidName(c.Agent) {
		user.want = c.Agent
	}
	user.parse(data)
	c.settle(opts, user, workspace)
	if err := joined(append(user.problems, workspace.problems...)); err != nil {
		return nil, nil, err
	}
	return c, user, nil
}

func (c *Config) readWorkspace(f *file, dir string, user fs.FileInfo) error {
	if dir == "" {
		return nil
	}
	f.path = filepath.Join(dir, FileName)
	data, err := readWorkspace(f.path, user)
	if err != nil || data == nil {
		return err
	}
	c.Workspace = f.path
	f.parse(data)
	return nil
}

// settle derives the configuration from the files.
func (c *Config) settle(opts *Options, user, workspace *file) {
	c.agents, c.values = user.agents, user.values
	if v := find(user.values, "agent"); v != nil && c.Agent == "" {
		c.Agent, c.From = v.Text, v.From
	}
	url, command := bitOf("url"), bitOf("command")
	for i := range c.agents {
		a := &c.agents[i]
		c.Named = c.Named || string(a.name) == c.Agent
		if a.keys&url != 0 == (a.keys&command != 0) {
			text := "needs a url, or a command that starts it"
			if a.keys&url != 0 {
				text = "has a url and a command: which of them is it?"
			}
			user.problems = append(user.problems, &Problem{c.File, a.line, "the agent " + string(a.name) + " " + text})
		}
	}
	if c.From.File != "" && !c.From.Workspace && !c.Named {
		// If it is no name, the user's default is a value for --agent.
		if ValidName(c.Agent) {
			user.problems = append(user.problems, &Problem{c.From.File, c.From.Line, c.NoAgent(c.Agent)})
		} else if c.Agent != demo && !strings.Contains(c.Agent, "://") {
			c.Agent = resolve(c.Agent, c.From.File)
		}
	}
	c.checkWorkspace(opts, workspace)
}

func bitOf(key string) uint64 { return 1 << lookup([]byte(key)) }

// Names returns the names of the defined agents, in their order.
func (c *Config) Names() []string {
	names := make([]string, len(c.agents))
	for i := range c.agents {
		names[i] = string(c.agents[i].name)
	}
	return names
}

// NoAgent says that no agent has this name, and which one was probably meant.
func (c *Config) NoAgent(name string) string {
	text := "there is no agent " + shown([]byte(name))
	switch near := nearest(name, c.Names()); {
	case near != "":
		return text + ": did you mean " + near + "?"
	case len(c.agents) == 0:
		return text + ": none is defined, and a2astdio setup defines one"
	}
	return text + ": a2astdio agents lists those that there are"
}

// find returns a key's value at the top of a file, nil if there is none.
func find(values []Value, key string) *Value {
	for i := range values {
		if values[i].Key.Name == key && values[i].From.Agent == "" {
			return &values[i]
		}
	}
	return nil
}

// Value returns a key's value, nil if no file has one: the workspace's first, then the
// used agent's, then the top of the user's file.
func (c *Config) Value(key string) *Value {
	var found *Value
	for i := range c.values {
		v := &c.values[i]
		if v.Key.Name != key || v.From.Agent != "" && (!c.Named || v.From.Agent != c.Agent) {
			continue
		}
		if found == nil || rank(v) > rank(found) {
			found = v
		}
	}
	return found
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

func rank(v *Value) int {
	switch {
	case v.From.Workspace:
		return 2
	case v.From.Agent != "":
		return 1
	}
	return 0
}

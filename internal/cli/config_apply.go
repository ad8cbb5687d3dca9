package cli

import (
	"cmp"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/config"
)

// A configuration is what options, variables and files say together.
type configuration struct {
	// agent is the value for --agent but no name, command that for --agent-command. One of
	// them is set, or none if no agent was named.
	agent, command string
	// name is the agent's name, if the files define it.
	name  string
	files *config.Config
	// agentGiven tells who named the agent: byOption, byVariable, or "" for the files.
	agentGiven string
	// options are the names of the options on the command line.
	options []string
}

var errNoAgent = usagef("which agent? a2astdio setup makes one known, --agent URL or A2ASTDIO_AGENT names one, and --agent demo is there to try")

// configure reads the files, and sets options that were not given to their values.
// Nothing behind it needs to know of files.
func (p *program) configure(c *cli.Context) (*configuration, error) {
	workspace := workspaceOf(c)
	if p.alone {
		workspace = ""
	}
	conf, err := readConfiguration(c, workspace)
	if err != nil {
		return nil, err
	}
	return conf, conf.apply(c)
}

// readConfiguration reads the user's file and a workspace's, and changes nothing.
func readConfiguration(c *cli.Context, workspace string) (*configuration, error) {
	conf := &configuration{options: optionsGiven(c)}
	opts := &config.Options{File: stringOf(c, "config"), Workspace: workspace}
	if conf.given("mode") != "" {
		opts.Mode = stringOf(c, "mode")
	}
	var err error
	if conf.agent, conf.command, err = conf.whichAgent(c); err != nil {
		return nil, err
	}
	opts.Agent = conf.agent
	if conf.command != "" {
		opts.Agent = "-" // no agent of the files': nobody can be called that
	}
	if conf.files, err = config.Load(opts); err != nil {
		return nil, &configError{err}
	}
	return conf, conf.chooseAgent()
}

// chooseAgent replaces a name by what the files say of it.
func (conf *configuration) chooseAgent() error {
	if conf.command != "" {
		return nil
	}
	conf.agent = conf.files.Agent
	if !conf.files.Named {
		if config.ValidName(conf.agent) {
			if _, err := os.Stat(conf.agent); errors.Is(err, os.ErrNotExist) {
				return usagef("--agent: %s", conf.files.NoAgent(conf.agent))
			}
		}
		return nil
	}
	conf.name, conf.agent = conf.agent, ""
	if v := conf.files.Value("command"); v != nil {
		conf.command = v.Text
	} else if v := conf.files.Value("url"); v != nil {
		conf.agent = v.Text
	}
	return nil
}

// apply sets the options that were not given, and those that name the agent.
func (conf *configuration) apply(c *cli.Context) error {
	for name, value := range map[string]string{"agent": conf.agent, "agent-command": conf.command} {
		if stringOf(c, name) == value {
			continue
		}
		if err := c.Set(name, value); err != nil {
			return err
		}
	}
	for _, k := range config.Keys() {
		if k.Flag == "" || k.Name == "agent" || conf.given(k.Flag) != "" {
			continue
		}
		v := conf.files.Value(k.Name)
		if v == nil {
			continue
		}
		list := v.List
		if k.Kind != config.KindList {
			list = []string{v.Text}
		}
		for _, text := range list {
			if err := c.Set(k.Flag, text); err != nil {
				return usagef("%s: %s: %v", v.From.File, k.Name, err)
			}
		}
	}
	return nil
}

// addHeaders adds the agent's headers to those of --header, which win. Errors leave out
// the value.
func (conf *configuration) addHeaders(h http.Header) error {
	v := conf.files.Value("headers")
	if v == nil {
		return nil
	}
	given := h.Clone()
	for _, header := range v.Headers {
		if len(given.Values(header.Name)) > 0 {
			continue
		}
		value, err := header.Expand(nil)
		if err != nil {
			return usagef("%s: headers: %v", v.From.File, err)
		}
		h.Add(header.Name, value)
	}
	return nil
}

// whichAgent reads --agent and --agent-command, of which one may be given. A variable
// is a default, so an option of either kind wins over it.
func (conf *configuration) whichAgent(c *cli.Context) (agent, command string, err error) {
	for _, by := range []string{byOption, byVariable} {
		if conf.given("agent") == by {
			agent = stringOf(c, "agent")
		}
		if conf.given("agent-command") == by {
			command = stringOf(c, "agent-command")
		}
		switch {
		case agent != "" && command != "":
			return "", "", usagef("--agent and --agent-command cannot both say where the agent is: give one of them, with its variable or without")
		case agent != "" || command != "":
			conf.agentGiven = by
			return agent, command, nil
		}
	}
	return "", "", nil
}

// Who gave an option its value.
const (
	byOption   = "option"
	byVariable = "variable"
	byFiles    = "" // the configuration, if anybody
)

// given tells who gave an option its value: byOption, byVariable, or "". An empty
// variable counts as none.
func (conf *configuration) given(name string) string {
	switch {
	case slices.Contains(conf.options, name):
		return byOption
	case os.Getenv(env(name)[0]) != "":
		return byVariable
	}
	return ""
}

// optionsGiven lists the options on the command line. The library also takes variables
// for given, but only for flags of a command that it knows.
func optionsGiven(c *cli.Context) (names []string) {
	for _, l := range c.Lineage() {
		if l.Command == nil {
			continue
		}
		bare := *l
		bare.Command = nil
		names = append(names, bare.LocalFlagNames()...)
	}
	return names
}

// workspaceOf is the directory whose file is read. A wrong one is reported later.
func workspaceOf(c *cli.Context) string {
	dir, err := filepath.Abs(cmp.Or(stringOf(c, "workspace"), "."))
	if err != nil {
		return ""
	}
	return dir
}

// A configError is about a configuration file, where a command's help does not help.
type configError struct{ err error }

func (e *configError) Error() string { return e.err.Error() }
func (e *configError) Unwrap() error { return e.err }

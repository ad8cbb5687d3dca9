package reach

import (
	"cmp"
	"errors"
	"net/http"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/config"
)

// A Configuration is what options, variables and files say together.
type Configuration struct {
	// Agent is the value for --agent but no name, command that for --agent-command. One of
	// them is set, or none if no agent was named.
	Agent, Command string
	// Name is the agent's name, if the files define it.
	Name  string
	Files *config.Config
	// AgentGiven tells who named the agent, as [frame.By] does; "" for the files.
	AgentGiven string
	// others: credentials of options and variables are for another agent: see [frame.Program.Others].
	others bool
}

var ErrNoAgent = frame.Usagef("which agent? a2astdio setup makes one known, --agent URL or A2ASTDIO_AGENT names one, and --agent demo is there to try")

// Configure reads the files, and sets options that were not given to their values.
// Nothing behind it needs to know of files.
func Configure(p *frame.Program, c *cli.Context) (*Configuration, error) {
	workspace := WorkspaceOf(c)
	if p.Alone {
		workspace = ""
	}
	conf, err := ReadConfiguration(c, workspace)
	if err != nil {
		return conf, err
	}
	if conf.others = p.Others; conf.others {
		for _, flag := range credentialFlags {
			frame.Unset(c, flag)
		}
	}
	return conf, cmp.Or(conf.checkCredentials(c), conf.Apply(c))
}

// ReadConfiguration reads the user's file and a workspace's, and changes nothing.
func ReadConfiguration(c *cli.Context, workspace string) (*Configuration, error) {
	conf := &Configuration{}
	opts := &config.Options{File: c.String("config"), Workspace: workspace}
	if frame.By(c, "mode") != "" {
		opts.Mode = c.String("mode")
	}
	err := conf.whichAgent(c)
	if err != nil {
		return nil, err
	}
	opts.Agent = conf.Agent
	if conf.Command != "" {
		opts.Agent = "-" // no agent of the files': nobody can be called that
	}
	if conf.Files, err = config.Load(opts); err != nil {
		return nil, frame.Mark(frame.ErrConfig, err)
	}
	return conf, conf.chooseAgent()
}

// chooseAgent replaces a name by what the files say of it.
func (conf *Configuration) chooseAgent() error {
	if conf.Command != "" {
		return nil
	}
	conf.Agent = conf.Files.Agent
	if !conf.Files.Named {
		if config.ValidName(conf.Agent) {
			if _, err := os.Stat(conf.Agent); errors.Is(err, os.ErrNotExist) {
				return frame.Usagef("--agent: %s", conf.Files.NoAgent(conf.Agent))
			}
		}
		return nil
	}
	conf.Name, conf.Agent = conf.Agent, ""
	if v := conf.Files.Value("command"); v != nil {
		conf.Command = v.Text
	} else if v := conf.Files.Value("url"); v != nil {
		conf.Agent = v.Text
	}
	return nil
}

// Apply sets the options that were not given, and those that name the agent.
func (conf *Configuration) Apply(c *cli.Context) error {
	for name, value := range map[string]string{"agent": conf.Agent, "agent-command": conf.Command} {
		if c.String(name) == value {
			continue
		}
		if err := c.Set(name, value); err != nil {
			return err
		}
	}
	for k := range config.Keys() {
		if k.Flag == "" || k.Name == "agent" || frame.By(c, k.Flag) != "" {
			continue
		}
		v := conf.Files.Value(k.Name)
		if v == nil {
			continue
		}
		list := v.List
		if k.Kind != config.KindList {
			list = []string{v.Text}
		}
		if err := frame.Fill(c, k.Flag, list); err != nil {
			return frame.Usagef("%s: %s %v", v.From.File, k.Name, err)
		}
	}
	return nil
}

// base returns what relative paths in a command of the user's file begin from.
func (conf *Configuration) base() string { return filepath.Dir(Absolute(conf.Files.File)) }

// addHeaders adds the agent's headers to those of --header, which win. Errors leave out
// the value.
func (conf *Configuration) addHeaders(h http.Header) error {
	v := conf.Files.Value("headers")
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
			return frame.Usagef("%s: headers: %v", v.From.File, err)
		}
		h.Add(header.Name, value)
	}
	return nil
}

// whichAgent reads --agent and --agent-command, of which one may be given. A variable
// is a default, so an option of either kind wins over it.
func (conf *Configuration) whichAgent(c *cli.Context) error {
	for _, by := range []string{frame.ByOption, frame.ByVariable} {
		if frame.By(c, "agent") == by {
			conf.Agent = c.String("agent")
		}
		if frame.By(c, "agent-command") == by {
			conf.Command = c.String("agent-command")
		}
		switch {
		case conf.Agent != "" && conf.Command != "":
			return frame.Usagef("--agent and --agent-command cannot both say where the agent is: give one of them, with its variable or without")
		case conf.Agent != "" || conf.Command != "":
			conf.AgentGiven = by
			return nil
		}
	}
	return nil
}

// WorkspaceOf returns the directory whose file is read. A wrong one is reported later.
func WorkspaceOf(c *cli.Context) string {
	dir, err := filepath.Abs(cmp.Or(c.String("workspace"), "."))
	if err != nil {
		return ""
	}
	return dir
}

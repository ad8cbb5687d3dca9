package config

import "slices"

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

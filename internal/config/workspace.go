package config

import (
	"slices"
	"sort"
)

// Errors for refused keys, and the reason, which is given once.
const (
	refused       = " is refused: the file of a workspace cannot say that"
	workspaceRule = "this file comes with what one clones, so it may say two things only: " +
		"agent, the name of an agent that your own file defines, and mode, a stricter one than yours"
)

// checkWorkspace checks the workspace's file against the user's, and takes its values.
func (c *Config) checkWorkspace(opts *Options, f *file) {
	problem := func(v *Value, text string) {
		f.problems = append(f.problems, &Problem{v.From.File, v.From.Line, text})
	}
	yours := c.modeOfUser()
	for i := range f.values {
		v := &f.values[i]
		switch v.Key.Name {
		case "agent":
			switch {
			case !ValidName(v.Text):
				problem(v, "agent is refused: in a workspace it is the name of an agent that your own file defines")
			case !slices.Contains(c.Names(), v.Text):
				problem(v, "agent is refused: "+c.NoAgent(v.Text)+" (yours are in "+c.File+")")
			}
		case "mode":
			if laxness(v.Text) > max(laxness(yours), laxness(opts.Mode)) {
				problem(v, "mode is refused: "+v.Text+" is laxer than yours, which is "+yours)
				continue
			}
			c.values = append(c.values, *v)
		}
	}
	if v := c.Value("mode"); c.From.Workspace && v != nil && v.From.Agent != "" && laxness(v.Text) > laxness(yours) {
		c.values = append(c.values, Value{Key: v.Key, Text: yours, From: c.From})
	}
	if len(f.problems) > 0 {
		f.problems = append(f.problems, &Problem{File: f.path, Text: workspaceRule})
		sort.SliceStable(f.problems, func(i, j int) bool { return lineOf(f.problems[i]) < lineOf(f.problems[j]) })
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

// ChosenByWorkspace reports whether the workspace's file alone has chosen the agent: the user has
// defined it, and names another one, or none.
func (c *Config) ChosenByWorkspace() bool {
	own := c.UserValue("agent")
	return c.From.Workspace && (own == nil || own.Text != c.Agent)
}

func lineOf(err error) int {
	if p, ok := err.(*Problem); ok {
		return p.Line
	}
	return 0
}

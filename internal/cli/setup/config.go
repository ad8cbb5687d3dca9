package setup

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/config"
)

func ConfigCommand(p *frame.Program) *cli.Command {
	return p.Group("config", p.AgentCommand("config show", configShow,
		frame.Output(`{"user","workspace","agent","values"}, values being [{"key","value","from","file"}], from being option, variable, workspace, agent, file or built-in`)))
}

// A setting is a line of config show.
type setting struct {
	Key   string `json:"key"`
	Value any    `json:"value"` // a string or a list of strings
	From  string `json:"from"`
	File  string `json:"file,omitempty"`
}

// setOrigin sets which file a setting is from, and which part of it.
func (s *setting) setOrigin(o config.Origin) {
	s.From, s.File = fromFile, o.File
	switch {
	case o.Workspace:
		s.From = fromWorkspace
	case o.Agent != "":
		s.From = fromAgent
	}
}

// Where a setting may come from, beside [frame.ByOption] and [frame.ByVariable].
const (
	fromWorkspace = "workspace"
	fromAgent     = "agent"
	fromFile      = "file"
	fromBuiltIn   = "built-in"
)

func configShow(p *frame.Program, c *cli.Context) error {
	conf, err := reach.ReadConfiguration(c, reach.WorkspaceOf(c))
	if err != nil {
		return err
	}
	settings := settings(conf, c)
	if frame.AsJSON(c) {
		return p.PrintJSON(struct {
			User      string    `json:"user"`
			Workspace string    `json:"workspace,omitempty"`
			Agent     string    `json:"agent,omitempty"`
			Values    []setting `json:"values"`
		}{conf.Files.File, conf.Files.Workspace, conf.Name, settings})
	}
	return p.Show(configPage(conf, settings))
}

func settings(conf *reach.Configuration, c *cli.Context) (all []setting) {
	s := setting{Key: "agent", Value: cmp.Or(conf.Name, reach.ShownAddress(conf.Agent)), From: cmp.Or(conf.AgentGiven, fromBuiltIn)}
	if origin := conf.Files.From; conf.AgentGiven == "" && origin.File != "" {
		s.setOrigin(origin)
	}
	if conf.Name == "" && conf.Command != "" {
		s.Key, s.Value = "command", agentproc.Describe(conf.Command)
	}
	all = append(all, s)
	for k := range config.Keys() {
		isAddress := k.Name == "url" || k.Name == "command"
		if k.Name == "agent" || isAddress && (conf.Name == "" || conf.Files.Value(k.Name) == nil) {
			continue // they are one setting: the agent
		}
		all = append(all, settingOf(conf, c, k))
	}
	return all
}

// settingOf returns one setting, without what may be a credential.
func settingOf(conf *reach.Configuration, c *cli.Context, k *config.Key) setting {
	s, v := setting{Key: k.Name, From: fromBuiltIn}, conf.Files.Value(k.Name)
	if k.Kind == config.KindHeaders { // those of options, too: they replace some of the file's
		if s.Value = hiddenHeaders(frame.ListOf(c, "header"), v); frame.By(c, "header") != "" {
			s.From = frame.By(c, "header")
		} else if v != nil {
			s.setOrigin(v.From)
		}
		return s
	}
	if by := frame.By(c, k.Flag); by != "" || v == nil {
		v = &config.Value{Key: k, Text: optionText(c, k), List: reach.Fields(frame.ListOf(c, k.Flag))}
		s.From = cmp.Or(by, fromBuiltIn)
	} else {
		s.setOrigin(v.From)
	}
	s.Value = shownValue(v)
	return s
}

// shownValue returns a value as it is shown: by what is known to be no credential, since
// nothing tells what one looks like.
func shownValue(v *config.Value) any {
	switch v.Key.Kind {
	case config.KindList:
		items := []string{}
		for _, item := range v.List {
			if v.Key.Name == "oauth-params" {
				item = nameOnly(item, "=")
			}
			items = append(items, reach.ShownAddress(item))
		}
		return items
	case config.KindObject:
		return maskedObject(v.Text)
	case config.KindBool, config.KindDuration, config.KindNumber, config.KindWord:
		return v.Text
	}
	if v.Text != "" && strings.HasSuffix(v.Key.Name, "command") {
		return agentproc.Describe(v.Text)
	}
	return reach.ShownAddress(v.Text) // a URL may hold a password or a token
}

// nameOnly shows of NAME=VALUE the name; of what has no name, nothing.
func nameOnly(item, sign string) string {
	name, _, ok := strings.Cut(item, sign)
	if !ok {
		return "***"
	}
	return name + sign + "***"
}

// maskedObject shows which members an object has; of their values only true, false and
// null, which are no credential.
func maskedObject(object string) any {
	names := []string{}
	gjson.Parse(object).ForEach(func(name, value gjson.Result) bool {
		text := "***"
		if value.IsBool() || value.Type == gjson.Null {
			text = value.Raw
		}
		names = append(names, name.String()+" = "+text)
		return true
	})
	return names
}

// optionText returns an option's value as given, or its default.
func optionText(c *cli.Context, k *config.Key) string {
	if k.Kind == config.KindHeaders || k.Kind == config.KindList {
		return ""
	}
	text := c.String(k.Flag)
	if text == "0" || text == "0s" { // it is not given
		return k.Shown
	}
	return text
}

// hiddenHeaders lists headers without their values: the options' own, and those of a file that
// the options do not replace.
func hiddenHeaders(options []string, v *config.Value) []string {
	names := []string{}
	for _, line := range options {
		names = append(names, nameOnly(strings.Replace(line, ":", ": ", 1), ": "))
	}
	if v != nil {
		for _, h := range v.Headers {
			text := h.Name + ": ***"
			if variables := h.Variables(); len(variables) > 0 {
				text = h.Name + ": from $" + strings.Join(variables, " and $")
			}
			names = append(names, text)
		}
	}
	return names
}

func configPage(conf *reach.Configuration, settings []setting) *frame.Page {
	out := &frame.Page{}
	user := conf.Files.File
	if !conf.Files.Exists {
		user = cmp.Or(user, "nowhere, because you have no home directory") + " (it is not there; a2astdio setup makes it)"
	}
	out.Field("yours", user)
	out.Field("workspace", conf.Files.Workspace)
	out.Heading("What holds")
	width := 0
	for _, s := range settings {
		width = max(width, len(s.Key)+2)
	}
	from := map[string]string{frame.ByOption: "the option", frame.ByVariable: "the variable", fromBuiltIn: "built in", fromWorkspace: "workspace", fromAgent: "the agent", fromFile: "yours"}
	for _, builtIn := range []bool{false, true} { // what is set comes first
		for _, s := range settings {
			if builtIn == (s.From == fromBuiltIn) {
				out.Hanging(fmt.Sprintf("  %-*s%-14s", width, s.Key, from[s.From]), width+16, cmp.Or(settingText(s.Value), "-"))
			}
		}
	}
	return out
}

func settingText(value any) string {
	if list, ok := value.([]string); ok {
		return strings.Join(list, "\n")
	}
	return fmt.Sprint(value)
}

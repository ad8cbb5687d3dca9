package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/config"
)

func (p *program) configCommand() *cli.Command {
	show := documented(&cli.Command{
		Name:     "show",
		HelpName: "a2astdio config show",
		Usage:    "show what holds, and where it comes from",
		Flags: append([]cli.Flag{
			outputFlag(`{"user","workspace","agent","values"}, values being [{"key","value","from","file","line"}], from being option, variable, workspace, agent, file or built-in`)}, behindCommand()...),
		Action: p.configShow,
	}, help{
		intro: `Shows every setting: its value, and who has said so. An option wins over its
variable, that over your configuration; there the table of the agent wins over
the top of the file. The file of a workspace may name an agent of yours and a
stricter mode. Credentials are not shown.`,
		usage: []string{"a2astdio [options] config show [options]"},
		examples: []example{
			{"a2astdio config show", "in this directory, with nothing said"},
			{"a2astdio --agent work config show", "with an agent that you have named"},
		},
		after: "\nExit status:\n  0    done\n  2    a2astdio was called wrongly, or a file has something wrong\n",
	})
	return group("config", "show your configuration", help{
		intro: `Your configuration is a2astdio.toml in your directory for such files; config
show says where that is. docs/configuration.md has each key.`,
		usage:    []string{"a2astdio config show [options]"},
		examples: []example{{"a2astdio config show", "what holds, and where it comes from"}},
	}, show)
}

// A setting is a line of config show.
type setting struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
	From  string `json:"from"`
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
}

// Where a setting may come from, beside byOption and byVariable.
const (
	fromWorkspace = "workspace"
	fromAgent     = "agent"
	fromFile      = "file"
	fromBuiltIn   = "built-in"
)

func (p *program) configShow(c *cli.Context) error {
	_, asJSON, err := p.inputs(c)
	if err != nil {
		return err
	}
	conf, err := readConfiguration(c, workspaceOf(c))
	if err != nil {
		return err
	}
	settings := conf.settings(c)
	if asJSON {
		return p.printJSON(struct {
			User      string    `json:"user"`
			Workspace string    `json:"workspace,omitempty"`
			Agent     string    `json:"agent,omitempty"`
			Values    []setting `json:"values"`
		}{conf.files.File, conf.files.Workspace, conf.name, settings})
	}
	return p.show(conf.page(settings))
}

// settings returns each setting with its origin.
func (conf *configuration) settings(c *cli.Context) (all []setting) {
	for _, k := range config.Keys() {
		if k.Name == "agent" || k.Name == "url" || k.Name == "command" {
			continue // both are one setting: the agent
		}
		all = append(all, conf.setting(c, &k))
	}
	return append(conf.agentSettings(), all...)
}

// agentSettings tells which agent is used.
func (conf *configuration) agentSettings() (all []setting) {
	s := setting{Key: "agent", Value: cmp.Or(conf.name, agentName(conf.agent)), From: fromBuiltIn}
	switch origin := conf.files.From; {
	case conf.agentGiven != "":
		s.From = conf.agentGiven
	case origin.File != "":
		s.From, s.File, s.Line = fromOf(origin), origin.File, origin.Line
	}
	if conf.name == "" && conf.command != "" {
		return []setting{{Key: "command", Value: agentproc.Describe(conf.command), From: s.From}}
	}
	all = append(all, s)
	for _, key := range []string{"url", "command"} {
		v := conf.files.Value(key)
		if v == nil || conf.name == "" {
			continue
		}
		value := agentName(v.Text)
		if key == "command" {
			value = agentproc.Describe(v.Text)
		}
		all = append(all, setting{Key: key, Value: value, From: fromAgent, File: v.From.File, Line: v.From.Line})
	}
	return all
}

// setting returns one setting. It hides a header's value.
func (conf *configuration) setting(c *cli.Context, k *config.Key) setting {
	s := setting{Key: k.Name, From: fromBuiltIn}
	if by := conf.given(cmp.Or(k.Flag, "header")); by != "" && (k.Flag != "" || k.Kind == config.KindHeaders) {
		s.From = by
		switch k.Kind {
		case config.KindHeaders:
			s.Value = hidden(listOf(c, "header"), conf.files.Value(k.Name))
		case config.KindList:
			s.Value = fields(listOf(c, k.Flag))
		default:
			s.Value = withoutSecret(k, optionText(c, k))
		}
		return s
	}
	v := conf.files.Value(k.Name)
	if v == nil {
		s.Value = optionText(c, k)
		return s
	}
	s.From, s.File, s.Line = fromOf(v.From), v.From.File, v.From.Line
	switch k.Kind {
	case config.KindHeaders:
		s.Value = hidden(nil, v)
	case config.KindList:
		s.Value = v.List
	case config.KindObject:
		s.Value = json.RawMessage(v.Text)
	default:
		s.Value = withoutSecret(k, v.Text)
	}
	return s
}

// withoutSecret masks a value: a URL may hold a password or a token.
func withoutSecret(k *config.Key, value any) any {
	if text, ok := value.(string); ok && k.Name == "credential-command" {
		return agentproc.Describe(text)
	} else if ok && (k.Kind == config.KindText || k.Kind == config.KindLocation) {
		return agentName(text)
	}
	return value
}

// optionText is an option's value as given, or its default.
func optionText(c *cli.Context, k *config.Key) any {
	switch k.Kind {
	case config.KindHeaders, config.KindList:
		return []string{}
	case config.KindDuration:
		if d := where(c, k.Flag).Duration(k.Flag); d != 0 {
			return d.String()
		}
		return ""
	case config.KindBool:
		return fmt.Sprint(c.Bool(k.Flag))
	}
	return stringOf(c, k.Flag)
}

// hidden lists headers without their values: the options' own, and those of a file that
// the options do not replace.
func hidden(options []string, v *config.Value) []string {
	names := []string{}
	for _, line := range options {
		if strings.HasPrefix(line, "@") {
			names = append(names, "those in "+line[1:])
			continue
		}
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name+": ***")
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

func fromOf(o config.Origin) string {
	switch {
	case o.Workspace:
		return fromWorkspace
	case o.Agent != "":
		return fromAgent
	}
	return fromFile
}

func (conf *configuration) page(settings []setting) *page {
	out := &page{}
	user := conf.files.File
	if !conf.files.Exists {
		user = cmp.Or(user, "nowhere, because you have no home directory") + " (it is not there; a2astdio setup or a2astdio init makes it)"
	}
	out.field("yours", user)
	out.field("workspace", conf.files.Workspace)
	out.heading("What holds")
	width := 0
	for _, s := range settings {
		width = max(width, len(s.Key)+2)
	}
	settings = slices.Clone(settings)
	builtIn := func(s setting) int {
		if s.From == fromBuiltIn {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(settings, func(a, b setting) int { return builtIn(a) - builtIn(b) }) // what is set comes first
	for _, s := range settings {
		value := settingText(s.Value)
		from := map[string]string{byOption: "the option", byVariable: "the variable", fromBuiltIn: "built in",
			fromWorkspace: "workspace, line ", fromAgent: "the agent, line ", fromFile: "yours, line "}[s.From]
		if s.Line > 0 {
			from += fmt.Sprint(s.Line)
		}
		out.hanging(fmt.Sprintf("  %-*s%-20s", width, s.Key, from), width+22, cmp.Or(value, "-"))
	}
	return out
}

func settingText(value any) string {
	switch v := value.(type) {
	case []string:
		return strings.Join(v, "\n")
	case json.RawMessage:
		return string(v)
	}
	return fmt.Sprint(value)
}

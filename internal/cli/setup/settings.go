package setup

import (
	"cmp"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/safe"
)

// editorFiles are the settings of editors. docs/editors.md has one of each protocol, and names the rest.
//
//go:embed editors
var editorFiles embed.FS

// editorSettings are, for the names that setup --editor takes, the file above, and where its
// content goes. From claude-code on they are of clients that take tools by MCP.
var editorSettings = []struct{ name, file, where string }{
	{"zed", "zed.json", "Zed's settings.json (zed: open settings file)"},
	{"jetbrains", "jetbrains.json", "~/.jetbrains/acp.json (AI Chat, Add Custom Agent)"},
	{"codecompanion", "codecompanion.lua", "your Neovim configuration, where CodeCompanion is set up"},
	{"avante", "avante.lua", "your Neovim configuration, where avante.nvim is set up"},
	{"agent-shell", "agent-shell.el", "your Emacs init file"},
	{"vscode", "vscode.json", "VS Code's settings.json (Preferences: Open User Settings (JSON)), for the extension ACP Client"},
	{"claude-code", "mcp.json", ".mcp.json in the project, or ~/.claude.json"},
	{"gemini", "mcp.json", "~/.gemini/settings.json, or .gemini/settings.json in the project"},
	{"cursor", "mcp.json", "~/.cursor/mcp.json, or .cursor/mcp.json in the project"},
	{"claude-desktop", "mcp.json", "claude_desktop_config.json (Settings, Developer, Edit Config)"},
	{"codex", "codex.toml", "~/.codex/config.toml"},
	{"opencode", "opencode.json", "~/.config/opencode/opencode.json, or opencode.json in the project"},
	{"vscode-mcp", "vscode-mcp.json", ".vscode/mcp.json in the project, or the user's (MCP: Open User Configuration)"},
	{"goose", "goose.yaml", "~/.config/goose/config.yaml"},
}

func editorNames() (names []string) {
	for _, e := range editorSettings {
		names = append(names, e.name)
	}
	return names
}

// A launch is how an editor starts this program.
type launch struct {
	name, command string
	args          []string
	headers       []string // written like "Name: value"
	token         string   // that of [reach.TokenVariable]
}

func settingsOf(file string, l *launch) string {
	text, _ := editorFiles.ReadFile("editors/" + file) // it is part of the program
	between, variable := ", ", `"%s": %s`
	switch {
	case strings.HasSuffix(file, ".lua"), strings.HasSuffix(file, ".toml"):
		variable = `%s = %s`
	case strings.HasSuffix(file, ".el"):
		between = " "
	}
	var args []string
	for _, a := range l.args {
		args = append(args, literal(a))
	}
	var set []string
	for _, v := range [][2]string{{frame.Env("header"), strings.Join(l.headers, "\n")}, {reach.TokenVariable, l.token}} {
		switch {
		case v[1] == "":
		case between == " ":
			set = append(set, literal(v[0]+"="+v[1]))
		default:
			set = append(set, fmt.Sprintf(variable, v[0], literal(v[1])))
		}
	}
	template := string(text)
	for place, none := range map[string]bool{"ARGS": len(args) == 0, "ENV": len(set) == 0} {
		if none {
			template = strings.NewReplacer(place+", ", "", ", "+place, "", "{ "+place+" }", "{}").Replace(template)
		}
	}
	return strings.NewReplacer("NAME", l.name, "COMMAND", literal(l.command), "ARGS", strings.Join(args, between), "ENV", strings.Join(set, between)).Replace(template)
}

// literal writes a string in JSON, TOML, YAML, Lua and Emacs Lisp.
func literal(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}

// printSettings is setup --editor: it prints an editor's settings for an agent, asks
// nothing and stores nothing.
func printSettings(p *frame.Program, c *cli.Context, said []string) error {
	at := slices.Index(editorNames(), c.String("editor"))
	conf, err := reach.ReadConfiguration(c, "")
	if err != nil {
		return err
	}
	l, err := launchOf(c, conf, said)
	if err != nil {
		return err
	}
	if os.Getenv(reach.TokenVariable) != "" {
		l.token = "VALUE"
	}
	p.Say("this goes into %s, beside what is there", editorSettings[at].where)
	if len(l.headers) > 0 || l.token != "" {
		p.Say("put your token, or the values of your headers, where it says VALUE; or run a2astdio auth login once, which keeps a token outside of the editor's settings")
	}
	_, err = fmt.Fprint(p.Stdout, settingsOf(editorSettings[at].file, l))
	return err
}

// launchOf returns how an editor starts this program for the agent that the arguments, the
// options, the variables or the files name, with the other options that are given.
func launchOf(c *cli.Context, conf *reach.Configuration, said []string) (_ *launch, err error) {
	agent, command, name := conf.Agent, conf.Command, conf.Name
	given := conf.AgentGiven != "" || len(said) > 0
	if len(said) > 0 {
		if agent, command, name, err = understand(conf, said[0]); err != nil {
			return nil, err
		}
	}
	l := &launch{name: cmp.Or(name, "A2A"), command: reach.Self()}
	switch {
	case agent == "" && command == "" && name == "":
		return nil, reach.ErrNoAgent
	case agent != "" && agent != reach.DemoAgent && safe.Bare(agent) != agent:
		return nil, frame.Usagef("the agent's URL may hold credentials, which do not belong into an editor's settings: store it with a2astdio setup URL, and name it then")
	case !given: // the files name it
	case agent == reach.DemoAgent || name != "":
		l.args = []string{"--agent", cmp.Or(name, agent)}
	case command == "":
		l.args = []string{"--agent", reach.Absolute(agent)}
	default:
		err = startsAnywhere(command)
		l.args = []string{"--agent-command", command}
	}
	if file := c.String("config"); file != "" {
		l.args = append(l.args, "--config", reach.Absolute(file))
	} else if (name != "" || !given) && os.Getenv("XDG_CONFIG_HOME") != "" {
		l.args = append(l.args, "--config", conf.Files.File) // an editor need not have the variable
	}
	l.args = append(l.args, otherOptions(c)...)
	for _, h := range frame.ListOf(c, "header") {
		name, _, _ := strings.Cut(h, ":")
		l.headers = append(l.headers, name+": VALUE")
	}
	return l, err
}

// startsAnywhere returns an error for a command whose program is found from here alone.
func startsAnywhere(command string) error {
	_, words, err := agentproc.Words(command)
	if err != nil {
		return frame.Usagef("%v", err)
	}
	program := words[0]
	if filepath.Base(program) != program && !filepath.IsAbs(program) {
		return frame.Usagef("the command begins with the relative path %s, and an editor starts it in another directory: write %s", program, reach.Absolute(program))
	}
	return nil
}

// otherOptions lists the options that are given, but for those that name the agent, and for
// headers.
func otherOptions(c *cli.Context) (args []string) {
	for k := range config.Flags() {
		if frame.By(c, k.Flag) == "" || slices.Contains([]string{"agent", "agent-command", "config", "header"}, k.Flag) {
			continue
		}
		for _, v := range reach.Values(c, k) {
			args = append(args, "--"+k.Flag+"="+v)
		}
	}
	return args
}

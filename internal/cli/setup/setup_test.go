package setup

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// inContext runs f as the action of a2astdio with these arguments.
func inContext(t testing.TB, args []string, f func(c *cli.Context) error) error {
	t.Helper()
	p := &frame.Program{Args: append([]string{"a2astdio"}, args...), Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	app := p.App()
	app.Action = f
	return p.RunCommand(t.Context(), app)
}

// A layer is a source of values, the weakest first.
type layer int

const (
	layerTop layer = iota
	layerAgent
	layerWorkspace
	layerVariable
	layerOption
	layers
)

var layerNames = [layers]string{fromFile, fromAgent, fromWorkspace, frame.ByVariable, frame.ByOption}

// TestPrecedence: for each key, a stronger source wins over a weaker one, the value is
// shown with its source, and the rest of the program reads it from the options.
func TestPrecedence(t *testing.T) {
	for k := range config.Keys() {
		if k.Flag == "" || k.Name == "agent" {
			continue // below, and TestAgentPrecedence
		}
		t.Run(k.Name, func(t *testing.T) {
			for strongest := layer(-1); strongest < layers; strongest++ {
				if strongest >= 0 && !stands(k, strongest) {
					continue
				}
				holds(t, k, strongest)
			}
		})
	}
}

// stands reports whether a key may stand in a layer.
func stands(k *config.Key, l layer) bool {
	return l > layerWorkspace || k.In&[]config.Place{config.Top, config.Agent, config.Workspace}[l] != 0
}

// inLayer is a key's value in a layer, in TOML and as its option takes it.
func inLayer(k *config.Key, l layer) (toml, text string) {
	switch k.Kind {
	case config.KindWord:
		words := k.Words()
		text = words[(int(l)+1)%len(words)]
		if k.Name == "mode" { // the workspace is stricter than the agent
			text = [layers]string{"accept-edits", "yolo", "accept-edits", "default", "yolo"}[l]
		}
	case config.KindDuration:
		text = fmt.Sprintf("%ds", int(l)+2)
	case config.KindNumber:
		text = fmt.Sprint(int(l) + 1)
		return text, text
	case config.KindBool:
		text = fmt.Sprint(l%2 == 1)
		return text, text
	case config.KindList:
		text = fmt.Sprintf("u://%d", l)
		return "[" + config.Quote(text) + "]", text
	case config.KindObject:
		return fmt.Sprintf("{ n = %t }", l%2 == 0), fmt.Sprintf(`{"n":%t}`, l%2 == 0)
	default:
		text = fmt.Sprintf("/nowhere/%d", l)
	}
	return config.Quote(text), text
}

// holds sets a key in a layer and all weaker ones, and checks the value in force.
func holds(t *testing.T, k *config.Key, strongest layer) {
	t.Helper()
	dir := t.TempDir()
	top, agent, workspace := "", "[agents.work]\nurl = 'u://x'\n", ""
	args := []string{"--agent", "work", "--workspace", filepath.Join(dir, "ws")}
	want, from := "", fromBuiltIn
	t.Setenv("A2ASTDIO_"+strings.ToUpper(strings.ReplaceAll(k.Flag, "-", "_")), "")
	for l := layerTop; l <= strongest; l++ {
		if !stands(k, l) {
			continue
		}
		toml, text := inLayer(k, l)
		want, from = text, layerNames[l]
		switch line := k.Name + " = " + toml + "\n"; l {
		case layerTop:
			top += line
		case layerAgent:
			agent += line
		case layerWorkspace:
			workspace += line
		case layerVariable:
			t.Setenv("A2ASTDIO_"+strings.ToUpper(strings.ReplaceAll(k.Flag, "-", "_")), text)
		case layerOption:
			args = append(args, "--"+k.Flag+"="+text)
		}
	}
	args = append(args, "--config", must.File(t, top+agent, dir, "mine.toml"))
	if workspace != "" {
		must.File(t, workspace, dir, "ws", config.FileName)
	}
	err := inContext(t, args, func(c *cli.Context) error {
		conf := must.Get(reach.ReadConfiguration(c, reach.WorkspaceOf(c)))(t)
		s := settingOf(conf, c, k)
		shown := want
		if k.Kind == config.KindObject { // only its members are shown
			shown = strings.NewReplacer(`{"n":`, "n = ", "}", "").Replace(want)
		}
		if k.Name == "oauth-params" && strongest >= 0 { // one without a name may be all secret
			shown = "***"
		}
		if got := settingText(s.Value); s.From != from || strongest >= 0 && got != shown {
			t.Errorf("set up to %v: %q by %s, want %q by %s", strongest, got, s.From, shown, from)
		}
		must.Equal(t, s.File != "", from == fromFile || from == fromAgent || from == fromWorkspace, strongest, from)
		if err := conf.Apply(c); err != nil || strongest < 0 {
			return err
		}
		got := optionText(c, k)
		if k.Kind == config.KindList {
			got = strings.Join(frame.ListOf(c, k.Flag), "\n")
		}
		must.Equal(t, got, want, strongest)
		return nil
	})
	must.Fail(t, err, "", strongest)
}

// TestAgentPrecedence: who names the agent; an option of either kind wins over
// variables, and these over the files.
func TestAgentPrecedence(t *testing.T) {
	const agents = "[agents.a]\nurl='u://a'\n[agents.b]\nurl='u://b'\n[agents.c]\ncommand='run'\n"
	for _, test := range must.Table[struct{ User, Workspace, Variable, CommandVariable, Option, Command, Want string }](t, "testdata/agents.txt") {
		dir := t.TempDir()
		top, args := "", []string{"--workspace", filepath.Join(dir, "ws")}
		if test.User != "" {
			top = "agent = " + config.Quote(test.User) + "\n"
		}
		if test.Workspace != "" {
			must.File(t, "agent = "+config.Quote(test.Workspace), dir, "ws", config.FileName)
		}
		if test.Option != "" {
			args = append(args, "--agent", test.Option)
		}
		if test.Command != "" {
			args = append(args, "--agent-command", test.Command)
		}
		t.Setenv("A2ASTDIO_AGENT", test.Variable)
		t.Setenv("A2ASTDIO_AGENT_COMMAND", test.CommandVariable)
		args = append(args, "--config", must.File(t, top+agents, dir, "mine.toml"))
		got := ""
		err := inContext(t, args, func(c *cli.Context) error {
			conf, err := reach.Configure(new(frame.Program), c)
			if err == nil && conf.Agent+conf.Command != "" {
				got = conf.Name + " " + conf.Agent + conf.Command
				if c.String("agent") != conf.Agent || c.String("agent-command") != conf.Command {
					t.Errorf("%+v: the options say something else", test)
				}
			}
			return err
		})
		if err != nil {
			got = "error"
		}
		must.Equal(t, got, test.Want, test, err)
	}
}

// TestHeaders: a header of an option or a variable wins over the agent's of the same
// name, and the others stay.
func TestHeaders(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("A2ASTDIO_HEADER", "")
	t.Setenv("CONFIG_TEST_TOKEN", "tok")
	file := must.File(t, "[agents.work]\nurl='http://127.0.0.1:1'\nheaders = { Authorization = 'Bearer ${CONFIG_TEST_TOKEN}', X-Team = 'blue' }\n", dir, "mine.toml")
	for _, test := range []struct{ variable, option, auth, team string }{
		{"", "", "Bearer tok", "blue"},
		{"authorization: mine", "", "mine", "blue"},
		{"", "x-team: red", "Bearer tok", "red"},
		{"X-Team: green", "Authorization: given", "given", "blue"}, // an option stands for all of its variable
	} {
		t.Setenv("A2ASTDIO_HEADER", test.variable)
		args := []string{"--config", file, "--agent", "work"}
		if test.option != "" {
			args = append(args, "--header", test.option)
		}
		must.Do(t, inContext(t, args, func(c *cli.Context) error {
			l := must.Get(reach.Open(&frame.Program{Stderr: io.Discard}, c))(t)
			defer l.Close()
			must.Equal(t, l.HTTP.Header, http.Header{"Authorization": {test.auth}, "X-Team": {test.team}})
			return nil
		}))
	}
}

// TestUnderstand: what people write for where an agent is.
func TestUnderstand(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	must.File(t, "{}", dir, "card")
	conf := &reach.Configuration{Files: must.Get(config.Load(&config.Options{File: must.File(t, "[agents.work]\nurl='u://x'\n", dir, "c.toml")}))(t)}
	for text, want := range map[string]string{
		"work": "known work", "demo": "agent demo", "https://a.example/x": "agent https://a.example/x", "card": "agent card", "other.json": "agent other.json",
		"localhost:41242": "agent http://localhost:41242", "127.0.0.1:4000/x": "agent http://127.0.0.1:4000/x", "[::1]:4": "agent http://[::1]:4",
		"a.example.com": "agent https://a.example.com", "a.example.com:8443/a2a": "agent https://a.example.com:8443/a2a",
		"npx -y @google/gemini-cli-a2a-server": "command npx -y @google/gemini-cli-a2a-server", "./run.sh": "command ./run.sh", "/opt/agent": "command /opt/agent",
		"wrok": "error", "a | b": "error",
	} {
		agent, command, known, err := understand(conf, text)
		got := strings.TrimSpace(fmt.Sprintf("known %s", known))
		switch {
		case err != nil:
			got = "error"
		case agent != "":
			got = "agent " + agent
		case command != "":
			got = "command " + command
		}
		must.Equal(t, got, want, text, err)
	}
}

var update = flag.Bool("update", false, "rewrite docs/editors.md")

// TestEditorsDocument: docs/editors.md has the settings that setup --editor prints, for an
// agent with a token, or the name by which setup prints them.
func TestEditorsDocument(t *testing.T) {
	const path = "../../../docs/editors.md"
	doc := must.Get(os.ReadFile(path))(t)
	text := string(doc)
	heads := map[string]string{} // of each file
	for _, e := range editorSettings {
		heads[e.file] = strings.TrimPrefix(heads[e.file]+", "+e.name, ", ")
	}
	for _, e := range editorSettings {
		l := &launch{name: "A2A", command: "a2astdio", args: []string{"--agent", "http://localhost:41242"}, headers: []string{"Authorization: Bearer TOKEN"}}
		settings := settingsOf(e.file, l)
		_, language, _ := strings.Cut(e.file, ".")
		head := "<!-- setup --editor " + heads[e.file] + " -->\n"
		block := head + "\n```" + strings.Replace(language, "el", "elisp", 1) + "\n" + settings + "```\n"
		at := strings.Index(text, head)
		if at < 0 && strings.Contains(text, "`"+e.name+"`") {
			continue // the document says that setup prints them
		}
		if at < 0 {
			t.Fatalf("%s has no %s", path, head)
		}
		end := at + strings.Index(text[at:], "\n```\n") + len("\n```\n")
		if *update {
			text = text[:at] + block + text[end:]
		} else if text[at:end] != block {
			t.Errorf("%s has other settings for %s (-update rewrites them):\n%s", path, e.name, text[at:end])
		}
	}
	if *update {
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// What the user has typed stays as it is, in each language.
func TestSettingsOf(t *testing.T) {
	for _, e := range editorSettings {
		text := settingsOf(e.file, &launch{args: []string{"a \"{  }\",  }\t"}})
		must.True(t, strings.Contains(text, `"a \"{  }\",  }\t"`), e.file, text)
	}
}

package peers

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite testdata/screens")

// pluginsVariable names a folder with sources of plugins, each in a folder of its own.
// Nothing of them is in this repository.
const pluginsVariable = "A2ASTDIO_PLUGINS"

// A seat is what a person has before the first prompt: an empty home, and the settings
// that setup --editor has printed, with their agent and token in them.
type seat struct {
	home, settings, agent string
	env                   []string
	atOnce                bool // what is wrong is said before the first prompt
}

// A pluginRun is a documented set-up, from the start of the editor to what its user reads.
type pluginRun struct {
	name  string
	needs []string // of the folder of plugins
	check []string // a command that fails where the editor is too old, or missing
	run   func(t *testing.T, s *seat, plugins, want string) string
}

var (
	newNeovim = []string{"nvim", "--headless", "--clean", "+if !has('nvim-0.11') | cquit | endif", "+qa"}
	newEmacs  = []string{"emacs", "-Q", "--batch", "--eval", `(kill-emacs (if (version< emacs-version "29.1") 1 0))`}
)

// pluginRuns: whatever the user types is in the documentation of the plugin.
var pluginRuns = []pluginRun{
	{"acpx", nil, nil, func(t *testing.T, s *seat, _, _ string) string {
		needNode(t, 20)
		dir := installNPM(t, "acpx-0.19.1", filepath.Join("acpx", "package.json"))
		cmd := exec.Command(filepath.Join(dir, "node_modules", ".bin", "acpx"), "--agent", strconv.Quote(binary)+" --agent "+s.agent, "exec", "hello")
		cmd.Dir, cmd.Env = s.work(t), s.env
		out, _ := cmd.CombinedOutput()                                                           // it has statuses of its own
		return regexp.MustCompile(`(?m)^(\[client\].*)?\r?\n`).ReplaceAllString(string(out), "") // its progress
	}},
	{"vscode", []string{"vscode-acp"}, nil, func(t *testing.T, s *seat, plugins, _ string) string {
		needNode(t, 20)
		modules := filepath.Join(installNPM(t, "vscode-0.21.1", filepath.Join("vscode", "package.json")), "node_modules")
		standIn := mustGet(filepath.Abs(filepath.Join("vscode", "vscode.cjs")))(t)
		extension, settings := filepath.Join(s.home, "extension.cjs"), filepath.Join(s.home, "settings.json")
		write(t, settings, s.settings)
		out, err := exec.Command(filepath.Join(modules, ".bin", "esbuild"), filepath.Join(plugins, "vscode-acp", "src", "extension.ts"), "--bundle", "--platform=node", "--log-level=error", "--outfile="+extension,
			"--alias:vscode="+standIn, "--alias:@vscode/extension-telemetry="+standIn, "--alias:@agentclientprotocol/sdk="+filepath.Join(modules, "@agentclientprotocol", "sdk"), "--alias:marked="+filepath.Join(modules, "marked")).CombinedOutput()
		mustDo(t, err)
		cmd := exec.Command("node", standIn, extension, settings, regexp.MustCompile(`"acp.agents": \{\s*"(.*?)"`).FindStringSubmatch(s.settings)[1], "hello", "edit")
		cmd.Dir, cmd.Env = s.work(t), s.env
		out, err = cmd.CombinedOutput()
		mustDo(t, err)
		return strings.ReplaceAll(string(out), cmd.Dir+"/", "")
	}},
	{"codecompanion", []string{"plenary.nvim", "codecompanion.nvim"}, newNeovim, func(t *testing.T, s *seat, plugins, want string) string {
		e := s.neovim(t, plugins, "plenary.nvim", "codecompanion.nvim")
		e.press(":CodeCompanionChat", "Enter")
		if !s.atOnce {
			e.see("## Me")
			e.press("i", "hello", "C-s")
		}
		return e.see(want)
	}},
	{"avante", []string{"plenary.nvim", "nui.nvim", "avante.nvim"}, newNeovim, func(t *testing.T, s *seat, plugins, want string) string {
		e := s.neovim(t, plugins, "plenary.nvim", "nui.nvim", "avante.nvim")
		e.press(":AvanteChat", "Enter")
		if !s.atOnce {
			e.see("submit")
			e.press("hello", "C-s")
		}
		return e.see(want)
	}},
	{"agent-shell", []string{"acp.el", "shell-maker", "agent-shell"}, newEmacs, func(t *testing.T, s *seat, plugins, want string) string {
		init := ""
		for _, name := range []string{"acp.el", "shell-maker", "agent-shell"} {
			init += fmt.Sprintf("(add-to-list 'load-path %q)\n", filepath.Join(plugins, name))
		}
		write(t, filepath.Join(s.home, ".emacs"), init+"(autoload 'agent-shell \"agent-shell\" nil t)\n"+s.settings)
		e := openScreen(t, s.work(t), s.env, "emacs", "-nw")
		e.see("GNU Emacs")
		e.press("M-x")
		e.see("M-x")
		e.press("agent-shell", "Enter")
		e.see("Start new agent")
		name := regexp.MustCompile(`:buffer-name "(.*?)"`).FindStringSubmatch(s.settings)
		e.press(name[1], "Enter")
		e.see("New shell")
		e.press("Enter")
		if !s.atOnce {
			e.see("Available /commands")
			e.press("hello", "Enter")
		}
		return e.see(want)
	}},
}

// work is a new directory to work in, whose name editors show.
func (s *seat) work(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(s.home, "work")
	mustDo(t, os.Mkdir(dir, 0o755))
	return dir
}

// neovim opens one with plugins and the settings.
func (s *seat) neovim(t *testing.T, plugins string, names ...string) *screen {
	t.Helper()
	init := ""
	for _, name := range names {
		init += fmt.Sprintf("vim.opt.rtp:prepend(%q)\n", filepath.Join(plugins, name))
	}
	write(t, filepath.Join(s.home, ".config", "nvim", "init.lua"), init+s.settings)
	e := openScreen(t, s.work(t), s.env, "nvim", "-i", "NONE") // what it writes at its end would outlive the home
	e.see("NVIM v")
	return e
}

// ready is the folder of the plugins, where they and the editor are here.
func (r *pluginRun) ready(t *testing.T) string {
	t.Helper()
	plugins := os.Getenv(pluginsVariable)
	for _, folder := range r.needs {
		if _, err := os.Stat(filepath.Join(plugins, folder)); plugins == "" || err != nil {
			t.Skipf("%s names no folder with a source snapshot of %s", pluginsVariable, folder)
		}
	}
	if r.check != nil {
		for _, check := range [][]string{r.check, {"tmux", "-V"}} {
			if err := exec.Command(check[0], check[1:]...).Run(); err != nil {
				t.Skipf("%s is not here, or too old: %v", check[0], err)
			}
		}
	}
	return plugins
}

// TestNewcomer: from an empty home to the first answer of an agent of the A2A project's
// SDK that wants a token, by docs/editors.md alone.
func TestNewcomer(t *testing.T) {
	agent := startGate(t, serve(t, buildIn(t, "a2ago", "./v1")), "sesame", nil, nil)
	for _, client := range pluginRuns[2:] {
		t.Run(client.name, func(t *testing.T) {
			plugins := client.ready(t)
			s := &seat{home: t.TempDir()}
			s.env = []string{"PATH=" + programFolder(t) + ":" + os.Getenv("PATH"), "HOME=" + s.home}
			began := time.Now()
			e := openScreen(t, s.home, s.env, "sh")
			for _, step := range []struct{ types, then string }{
				{"a2astdio setup", "Where is it?"}, {agent, "A prompt to try it with"}, {"", "The token for"}, {"sesame", "What shall it be called?"},
				{"", "Stored as"}, {"a2astdio setup --editor " + client.name + " > settings", "this goes into"},
			} {
				e.press(step.types, "Enter")
				e.see(step.then)
			}
			settings := mustGet(os.ReadFile(filepath.Join(s.home, "settings")))(t)
			s.settings = string(settings)
			client.run(t, s, plugins, "working on it")
			t.Logf("%v, with the looks at the screen", time.Since(began).Round(time.Second))
		})
	}
}

// TestEditorSituations: in each of seven situations, the user of each documented set-up
// reads the answer, or what is wrong. The settings are those of setup --editor, and
// nothing else is edited; the editors and plugins are the real ones.
func TestEditorSituations(t *testing.T) {
	open, secured := listen(t), listen(t, "--auth", "bearer")
	situations := []struct{ name, agent, header, want string }{
		{"no credentials needed", open, "", "Hello from the a2astdio demo agent."},
		{"a right token", secured, "Authorization: Bearer right", "Hello from the a2astdio demo agent."},
		{"a wrong token", secured, "Authorization: Bearer wrong", "it does not take what A2ASTDIO_HEADER gives"},
		{"no token", secured, "", "auth login"},
		{"an agent that is down", "http://127.0.0.1:1", "", "is the agent running"},
		{"a wrong name", "nme", "", "there is no agent"},
		{"a URL without a scheme", "127.0.0.1:4000", "", "did you mean http://127.0.0.1:4000?"},
	}
	for _, client := range pluginRuns {
		t.Run(client.name, func(t *testing.T) {
			plugins := client.ready(t)
			var screens strings.Builder
			for _, at := range situations {
				s := &seat{home: t.TempDir(), agent: at.agent, atOnce: !strings.Contains(at.agent, "://")}
				s.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home}
				if len(client.needs) > 0 {
					s.settings = settingsFor(t, client.name, at.agent, at.header)
				} else if at.header != "" {
					s.env = append(s.env, "A2ASTDIO_HEADER="+at.header)
				}
				shown := client.run(t, s, plugins, at.want)
				shown = strings.NewReplacer(open, "http://AGENT/", secured, "http://AGENT/", portOf(open), "PORT1", portOf(secured), "PORT1", s.home, "HOME", "\r", "").Replace(shown)
				shown = regexp.MustCompile(`\d{4}-\d\d-\d\d[ -]\d\d[:-]\d\d[:-]\d\d`).ReplaceAllString(shown, "TIME")
				shown = regexp.MustCompile(`(?m)[│~ ]*$`).ReplaceAllString(shown, "")
				shown = regexp.MustCompile(`(?m)^.*<C-s>: submit$`).ReplaceAllString(shown, "") // avante's hint may come behind an error, or not
				shown = regexp.MustCompile(`\n{2,}`).ReplaceAllString(shown, "\n")
				contains(t, client.name+", "+at.name, unbroken(shown), unbroken(at.want))
				screens.WriteString("# " + at.name + "\n" + strings.TrimSpace(shown) + "\n\n")
			}
			file := filepath.Join("..", "screens", client.name+".txt")
			if *update {
				write(t, file, screens.String())
			} else if want, err := os.ReadFile(file); err != nil || string(want) != screens.String() {
				t.Errorf("%s differs (%v; -update rewrites it):\n%s", file, err, screens.String())
			}
		})
	}
}

// portOf is a URL's port, which a screen may break from its URL.
func portOf(url string) string { return strings.Trim(url[strings.LastIndex(url, ":")+1:], "/") }

// settingsFor is what setup --editor prints for a user who then writes this agent and
// this header into it.
func settingsFor(t *testing.T, editor, agent, header string) string {
	t.Helper()
	cmd := exec.Command(binary, "--header", "X: -", "setup", "--editor", editor, "http://agent.example")
	out := mustGet(cmd.Output())(t)
	text := strings.NewReplacer("http://agent.example", agent, "X: VALUE", header).Replace(string(out))
	if header == "" {
		text = strings.NewReplacer(`A2ASTDIO_HEADER = ""`, "", `"A2ASTDIO_HEADER="`, "").Replace(text)
	}
	return text
}

package peers

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/screens")

// pluginsVariable names a folder with sources of plugins: codecompanion.nvim with
// plenary.nvim, avante.nvim, acp.el. Nothing of them is in this repository.
const pluginsVariable = "A2ASTDIO_PLUGINS"

// TestEditorSituations: in each of seven situations, the user of each documented set-up
// reads the answer, or what is wrong. The settings are those of setup --editor, and the
// clients the real ones: acpx, and of plugins the parts that speak ACP.
func TestEditorSituations(t *testing.T) {
	open, secured := listen(t), listen(t, "--auth", "bearer")
	situations := []struct{ name, agent, header, want string }{
		{"no credentials needed", open, "", "Hello from the a2astdio demo agent."},
		{"a right token", secured, "Authorization: Bearer right", "Hello from the a2astdio demo agent."},
		{"a wrong token", secured, "Authorization: Bearer wrong", "it does not take what --header gives"},
		{"no token", secured, "", "auth login"},
		{"an agent that is down", "http://127.0.0.1:1", "", "is the agent running"},
		{"a wrong name", "nme", "", "there is no agent"},
		{"a URL without a scheme", "127.0.0.1:4000", "", "did you mean http://127.0.0.1:4000?"},
	}
	for _, client := range []struct {
		name  string
		needs []string // of the folder of plugins
		run   func(t *testing.T, agent string) *exec.Cmd
	}{
		{"acpx", nil, func(t *testing.T, agent string) *exec.Cmd {
			needNode(t, 20)
			dir := installNPM(t, "acpx-0.19.1", filepath.Join("acpx", "package.json"))
			return exec.Command(filepath.Join(dir, "node_modules", ".bin", "acpx"), "--agent", binary+" --agent "+agent, "exec", "hello")
		}},
		{"codecompanion", []string{"codecompanion.nvim", "plenary.nvim"}, runInNeovim("codecompanion.lua")},
		{"avante", []string{"avante.nvim"}, runInNeovim("avante.lua")},
		{"agent-shell", []string{"acp.el"}, func(t *testing.T, _ string) *exec.Cmd {
			return exec.Command("emacs", "-Q", "--batch", "-l", driver(t, "agent-shell.el"), "-f", "run-agent-shell")
		}},
	} {
		t.Run(client.name, func(t *testing.T) {
			plugins := os.Getenv(pluginsVariable)
			for _, folder := range client.needs {
				if _, err := os.Stat(filepath.Join(plugins, folder)); plugins == "" || err != nil {
					t.Skipf("%s names no folder with a source snapshot of %s", pluginsVariable, folder)
				}
			}
			var screen strings.Builder
			for _, s := range situations {
				home := t.TempDir()
				env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "PLUGINS=" + plugins, "DRIVERS=" + filepath.Dir(driver(t, "old.lua"))}
				cmd := client.run(t, s.agent)
				if _, err := exec.LookPath(cmd.Path); err != nil {
					t.Skip(err)
				}
				if len(client.needs) > 0 {
					env = append(env, "SETTINGS="+settingsFor(t, client.name, s.agent, s.header))
				} else if s.header != "" {
					env = append(env, "A2ASTDIO_HEADER="+s.header)
				}
				cmd.Dir, cmd.Env = home, env
				out, _ := cmd.CombinedOutput() // they have statuses of their own
				shown := strings.NewReplacer(open, "http://AGENT", secured, "http://AGENT", home, "HOME", "\r", "").Replace(string(out))
				shown = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`).ReplaceAllString(shown, "TIME")
				shown = regexp.MustCompile(`(?m)^(\[client\].*)?\r?\n`).ReplaceAllString(shown, "") // acpx's progress
				contains(t, client.name+", "+s.name, shown, s.want)
				screen.WriteString("# " + s.name + "\n" + strings.TrimSpace(shown) + "\n\n")
			}
			file := filepath.Join("..", "screens", client.name+".txt")
			if *update {
				write(t, file, screen.String())
			} else if want, err := os.ReadFile(file); err != nil || string(want) != screen.String() {
				t.Errorf("%s differs (%v; -update rewrites it):\n%s", file, err, screen.String())
			}
		})
	}
}

// settingsFor is a file with an editor's settings, as setup --editor prints them for a user
// who then writes this agent and this header into them.
func settingsFor(t *testing.T, editor, agent, header string) string {
	t.Helper()
	cmd := exec.Command(binary, "--header", "X: -", "setup", "--editor", editor, "http://agent.example")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("http://agent.example", agent, "X: VALUE", header).Replace(string(out))
	if header == "" {
		text = strings.NewReplacer(`A2ASTDIO_HEADER = ""`, "", `"A2ASTDIO_HEADER="`, "").Replace(text)
	}
	file := filepath.Join(t.TempDir(), "settings")
	write(t, file, text)
	return file
}

func driver(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("plugins", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func runInNeovim(name string) func(*testing.T, string) *exec.Cmd {
	return func(t *testing.T, _ string) *exec.Cmd {
		return exec.Command("nvim", "--headless", "--clean", "+luafile "+driver(t, name), "+qa!")
	}
}

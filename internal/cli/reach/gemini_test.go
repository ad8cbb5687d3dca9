package reach

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

func TestReadsGeminiHome(t *testing.T) {
	for command, want := range map[string]bool{
		"npx -y @google/gemini-cli-a2a-server": true, "gemini-cli-a2a-server": true, "A=b node /x/dist/a2a-server.mjs": true,
		"gemini --acp": false, "my-agent": false, "'": false,
	} {
		if got := readsGeminiHome(command, "auto"); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
	if !readsGeminiHome("my-wrapper", "gemini") {
		t.Error("--dialect gemini says that it is one")
	}
}

// The agent's home has links to all of the user's, also to what comes later. The MCP
// servers are in it, readable by nobody else, until they are removed.
func TestGeminiHome(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	theirs := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	for _, name := range []string{".gemini/settings.json", ".gemini/extensions/own/gemini-extension.json", ".env"} {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(theirs, name)), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(theirs, name), []byte(name), 0o600))
	}
	h := &geminiHome{}
	env, err := h.prepare([]string{"GEMINI_CLI_HOME=/elsewhere", "GEMINI_CLI_HOME=" + theirs})
	if err != nil || !slices.Equal(env, []string{"GEMINI_CLI_HOME=" + h.dir, "CODER_AGENT_ALLOWED_ROOT=" + theirs}) {
		t.Fatalf("%v %v", env, err)
	}
	must.Do(t, os.WriteFile(filepath.Join(theirs, ".gemini", "later"), nil, 0o600))
	if env, err = h.prepare([]string{"GEMINI_CLI_HOME=" + theirs, "CODER_AGENT_ALLOWED_ROOT=/srv"}); err != nil || env[1] != "CODER_AGENT_ALLOWED_ROOT=/srv" {
		t.Errorf("%v %v", env, err)
	}
	for _, name := range []string{".gemini/settings.json", ".gemini/extensions/own/gemini-extension.json", ".env", ".gemini/later"} {
		if _, err := os.ReadFile(filepath.Join(h.dir, name)); err != nil {
			t.Error(err)
		}
	}
	t.Setenv("HOME", "/ours")
	other := &geminiHome{}
	if env, err = other.prepare([]string{"HOME=/ours", "HOME=" + theirs}); err != nil || env[1] != "CODER_AGENT_ALLOWED_ROOT="+theirs {
		t.Errorf("a command with a home of its own: %v %v", env, err)
	}
	must.Do(t, other.remove())
	remove := must.Get(h.Put([]byte("{}")))(t)
	file := filepath.Join(h.extension(), "gemini-extension.json")
	for _, name := range []string{file, h.extension(), h.dir} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the servers are still there")
	}
	if err := h.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.ReadFile(filepath.Join(theirs, ".gemini", "settings.json")); err != nil {
		t.Errorf("the user's own is gone: %v", err)
	}
}

package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/auth"
	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A browser is none of the workspace's programs.
func TestBrowserOutsideWorkspace(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("LocalAppData", t.TempDir())
	t.Chdir(t.TempDir())
	dir, _ := os.Getwd()
	for _, name := range []string{"xdg-open", "open", "rundll32.exe"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700))
	}
	t.Setenv("BROWSER", "")
	t.Setenv("PATH", dir)
	workspaces := new(agentproc.Workspaces)
	workspaces.Add(dir)
	must.Equal(t, auth.OpenBrowser("http://127.0.0.1:1/", workspaces) != nil, true)
}

// What the agent wants is one line of the question.
func TestProviderQuestion(t *testing.T) {
	got := auth.ProviderQuestion(&oauth.Question{Agent: "https://agent.example", Provider: "https://evil.example", Others: []string{"https://a.example", "https://b.example"},
		Scopes: []string{"agent", "x\n\n\nThe agent at https://agent.example\nwants you to sign in at https://honest.example", strings.Repeat("y", 5000)}})
	if lines := strings.Split(got, "\n"); len(lines) != 6 || lines[3] != "which answers by https://a.example, https://b.example" || len(lines[4]) > 1100 || !strings.HasPrefix(lines[4], "and asks there for agent, x The agent") {
		t.Errorf("%s", got)
	}
}

// Whether the user sees a page that opens here: by the user's word first, then by where
// the program runs. A CI sets CI=true, and has no viewer.
func TestHasBrowser(t *testing.T) {
	desktop := runtime.GOOS == "darwin" || runtime.GOOS == "windows"
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, desktop},
		{map[string]string{"DISPLAY": ":0"}, true},
		{map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, true},
		{map[string]string{"DISPLAY": ":0", "CI": "true"}, false},
		{map[string]string{"DISPLAY": ":10", "SSH_CONNECTION": "a 1 b 22"}, false},
		{map[string]string{"CI": "true", "BROWSER": "firefox"}, true},
		{map[string]string{"SSH_TTY": "/dev/pts/0", "BROWSER": "firefox"}, true},
		{map[string]string{"DISPLAY": ":0", "BROWSER": "firefox", "NO_BROWSER": "1"}, false},
	} {
		must.Equal(t, auth.HasBrowser(func(name string) string { return c.env[name] }), c.want, c.env)
	}
}

package agentproc

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// An agent finds no program of the workspace by PATH, also not by a link or a relative
// entry.
func TestOutside(t *testing.T) {
	dir := t.TempDir()
	ws, elsewhere := filepath.Join(dir, "ws"), filepath.Join(dir, "ws-else")
	bin := filepath.Join(ws, "node_modules", ".bin")
	for _, d := range []string{bin, elsewhere} {
		must.Do(t, os.MkdirAll(d, 0o700))
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(bin, link); err != nil {
		t.Skip(err)
	}
	list := strings.Join([]string{".", "", "node_modules/.bin", bin, ws, link, elsewhere, "/usr/bin"}, string(os.PathListSeparator))
	outside := func(env ...string) []string {
		w := new(Workspaces)
		w.Add(ws)
		return w.outside(env)
	}
	got := outside("A=b", "PATH="+list, "Path="+bin)
	want := "A=b PATH=" + elsewhere + string(os.PathListSeparator) + "/usr/bin Path="
	if strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
	must.Do(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o700))
	if got := outside("PATH=" + elsewhere); got[0] != "PATH=" {
		t.Errorf("in the repository, above the workspace: %q", got)
	}
	w, away := new(Workspaces), filepath.Join(t.TempDir(), "away")
	must.Do(t, os.Symlink(ws, away))
	w.Add(away)
	if got := w.outside([]string{"PATH=" + elsewhere}); got[0] != "PATH=" {
		t.Errorf("in the repository of a workspace that a link leads to: %q", got)
	}
	t.Setenv("HOME", dir)
	if got := outside("PATH=" + elsewhere); got[0] != "PATH="+elsewhere {
		t.Errorf("in a home that is a repository: %q", got)
	}
	t.Setenv("HOME", ws)
	if got := outside("PATH=" + bin); got[0] != "PATH="+bin {
		t.Errorf("in the user's home: %q", got)
	}
}

// Paths in a command begin where it is written, and are refused where that is nowhere.
func TestRelative(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix")
	}
	for command, want := range map[string]string{
		"agent x/y": "agent x/y", "npx -y @google/gemini-cli-a2a-server": "npx -y @google/gemini-cli-a2a-server", "/bin/x": "/bin/x", "node https://x/y": "node https://x/y",
		"./agent": "/conf/agent", "bin/agent": "/conf/bin/agent", "../agent --port={port}": "/agent --port=1", "node ./server.js": "node /conf/server.js", "node ../x/{port}": "node /x/1",
	} {
		o := &Options{Command: command, Base: "/conf"}
		_, words, err := o.parse("1")
		if got := strings.Join(words, " "); got != want || err != nil {
			t.Errorf("%s: %s, %v", command, got, err)
		}
		o.Base = ""
		_, _, err = o.parse("1")
		if relative := strings.Contains(command, "./") || strings.HasPrefix(command, "bin"); relative != (err != nil) {
			t.Errorf("%s: %v", command, err)
		} else if relative && !strings.Contains(err.Error(), "--working-directory workspace") {
			t.Error(err)
		}
	}
}

// What a command shows of itself is its program, and what is known to be no credential.
// Each S is one, under names and at places that no list knows.
func TestDescribe(t *testing.T) {
	for command, want := range map[string]string{
		"A=S B='s S' npx -y @google/gemini-cli-a2a-server@0.46.0":          "A=*** B=*** npx -y @google/gemini-cli-a2a-server@0.46.0",
		"npx x --port 3000 --gate S --gate=S --dry-run S -pS -p S -t S":    "npx x --port 3000 --gate *** --gate=*** --dry-run *** -p*** -p *** -t ***",
		"curl -H 'X-Zone: S' -u me:S https://me:S@host.example/S?k=S#S":    "curl -H *** -u *** https://host.example/***",
		"x --proxy=http://u:S@p:1 --listen=127.0.0.1:80 redis://:S@h/ S":   "x --proxy=http://p:1 --listen=127.0.0.1:80 redis://h ***",
		"env ZONE=S run localhost:4000 {port}:{port} 'Bearer S' me@host:S": "env *** *** localhost:4000 {port}:{port} *** ***",
		"docker run --rm -it -e ZONE=S -p {port}:{port} S":                 "docker run --rm -it -e *** -p {port}:{port} ***",
		"/opt/a:b/x ./c.py -m my.agent '{\"k\":\"S\"}'":                    "/opt/a:b/x ./c.py -m my.agent ***",
		"gcloud auth print-access-token":                                   "gcloud auth ***",
	} {
		if got := Describe(command); got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
}

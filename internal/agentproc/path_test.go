package agentproc

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// An agent finds no program of the workspace by PATH, also not by a link or a relative
// entry.
func TestOutside(t *testing.T) {
	dir := t.TempDir()
	ws, elsewhere := filepath.Join(dir, "ws"), filepath.Join(dir, "ws-else")
	bin := filepath.Join(ws, "node_modules", ".bin")
	for _, d := range []string{bin, elsewhere} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(bin, link); err != nil {
		t.Skip(err)
	}
	list := strings.Join([]string{".", "", "node_modules/.bin", bin, ws, link, elsewhere, "/usr/bin"}, string(os.PathListSeparator))
	got := outside([]string{"A=b", "PATH=" + list, "Path=" + bin}, ws)
	want := "A=b PATH=" + elsewhere + string(os.PathListSeparator) + "/usr/bin Path="
	if strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
	t.Setenv("HOME", ws)
	if got := outside([]string{"PATH=" + bin}, ws); got[0] != "PATH="+bin {
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

// What a command shows of itself has no credential.
func TestDescribe(t *testing.T) {
	for command, want := range map[string]string{
		"A=secret B='s t' npx -y x": "A=*** B=*** npx -y x", "npx x": "npx x",
		"npx --token S --api-key=S --yes --token-file f -H 'Authorization: Bearer S' --auth --port 1": "npx --token *** --api-key=*** --yes --token-file f -H Authorization:*** --auth --port 1",
		"curl -u me:S https://me:S@host.example/x?k=S#S":                                              "curl -u me:*** https://***@host.example/x?***",
		"x --proxy=http://u:S@p:1 --listen=127.0.0.1:80":                                              "x --proxy=http://***@p:1 --listen=127.0.0.1:80",
		"env TOKEN=S run localhost:4000 {port}:{port}":                                                "env TOKEN=*** run localhost:4000 {port}:{port}",
		"x 'Bearer S'": "x ***", "run --header X-Key:S": "run --header ***", `x /a:b ./c:d`: "x /a:b ./c:d",
	} {
		if got := Describe(command); got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
}

package agentproc

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

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
	must.Equal(t, strings.Join(got, " "), want)
	must.Do(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o700))
	must.Equal(t, outside("PATH=" + elsewhere)[0], "PATH=", "in the repository, above the workspace")
	w, away := new(Workspaces), filepath.Join(t.TempDir(), "away")
	must.Do(t, os.Symlink(ws, away))
	w.Add(away)
	must.Equal(t, w.outside([]string{"PATH=" + elsewhere})[0], "PATH=", "of a workspace that a link leads to")
	t.Setenv("HOME", dir)
	must.Equal(t, outside("PATH=" + elsewhere)[0], "PATH="+elsewhere, "in a home that is a repository")
	t.Setenv("HOME", ws)
	must.Equal(t, outside("PATH=" + bin)[0], "PATH="+bin, "in the user's home")
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
		must.Do(t, err)
		must.Equal(t, strings.Join(words, " "), want)
		o.Base = ""
		refused := ""
		if command != want && !strings.HasPrefix(command, "npx") {
			refused = "--working-directory workspace"
		}
		_, _, err = o.parse("1")
		must.Fail(t, err, refused, command)
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
		must.Equal(t, Describe(command), want, command)
	}
}

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		in      string
		windows bool
		env     string // joined with |
		words   string
	}{
		{in: `npx -y @google/gemini-cli-a2a-server`, words: `npx|-y|@google/gemini-cli-a2a-server`},
		{in: `  A=1 B_2='x y' run  C=3 `, env: `A=1|B_2=x y`, words: `run|C=3`},
		{in: `"A"=1 x`, words: `A=1|x`},
		{in: `A\=1 x`, words: `A=1|x`},
		{in: `2A=1 x`, words: `2A=1|x`},
		{in: `A= run`, env: `A=`, words: `run`},
		{in: `run '' ""`, words: `run||`},
		{in: `run 'a"b' "a'b" a\ b a'b'"c"d`, words: `run|a"b|a'b|a b|abcd`},
		{in: `run "a\"b\\c\d" '\n'`, words: `run|a"b\c\d|\n`},
		{in: `run '$HOME' \$HOME "\$HOME" 5$ $5 'a|b' "a;b" x~`, words: `run|$HOME|$HOME|$HOME|5$|$5|a@b|a;b|x~`},
		{in: "run \\\n  --port 1", words: "run|--port|1"},
		{in: "\n run", words: "run"},
		{in: `run --port={port} été`, words: `run|--port={port}|été`},
		{in: `"C:\Program Files\a.exe" C:\x\ \"q`, windows: true, words: `C:\Program Files\a.exe|C:\x\|"q`},
	} {
		env, words, err := splitWords(c.in, c.windows)
		must.Do(t, err)
		must.Equal(t, strings.Join(env, "|"), c.env, c.in)
		must.Equal(t, strings.ReplaceAll(strings.Join(words, "§"), "|", "@"), strings.ReplaceAll(c.words, "|", "§"), c.in)
	}
	for in, want := range map[string]string{
		``: "names no program", `A=1`: "names no program", `'a`: "not closed", `a "b`: "not closed", `a \`: "backslash",
		`a | b`: "'|'", `a && b`: "'&'", `a > b`: "'>'", `a; b`: "';'", "a `b`": "`b", "a\nb": `'\n'`,
		`a $HOME`: `"$H"`, `a "$HOME"`: `"$H"`, `a ${x}`: `"${"`, `a $(b)`: `"$("`, `~/a`: "~",
	} {
		_, _, err := splitWords(in, false)
		must.Fail(t, err, want, in)
	}
}

// FuzzSplitWords: words that are quoted come back as they are.
func FuzzSplitWords(f *testing.F) {
	f.Add("a b", `c'"\d`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return // a command line is text
		}
		_, _, _ = splitWords(a, true)
		quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
		_, words, err := splitWords(quote(a)+" "+quote(b), false)
		if err != nil || !slices.Equal(words, []string{a, b}) {
			t.Errorf("%q %q: %q, %v", a, b, words, err)
		}
	})
}

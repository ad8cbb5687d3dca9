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
	for _, row := range must.Table[[2]string](t, "testdata/described.txt") {
		command, want := row[0], row[1]
		must.Equal(t, Describe(command), want, command)
	}
}

func TestSplitWords(t *testing.T) {
	for _, c := range must.Table[struct {
		In         string
		Windows    bool
		Env, Words string
	}](t, "testdata/words.txt") {
		env, words, err := splitWords(c.In, c.Windows)
		must.Do(t, err)
		must.Equal(t, strings.Join(env, "|"), c.Env, c.In)
		must.Equal(t, strings.ReplaceAll(strings.Join(words, "§"), "|", "@"), strings.ReplaceAll(c.Words, "|", "§"), c.In)
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
		must.True(t, err == nil && slices.Equal(words, []string{a, b}), a, b, words, err)
	})
}

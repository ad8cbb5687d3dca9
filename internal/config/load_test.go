package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// files writes a user's file and a workspace's, where they are not empty, and
// returns the options that lead to them.
func files(t testing.TB, user, workspace string) *Options {
	t.Helper()
	dir := t.TempDir()
	opts := &Options{File: must.File(t, user, dir, "user", FileName), Workspace: filepath.Join(dir, "ws")}
	if workspace != "" {
		must.File(t, workspace, opts.Workspace, FileName)
	}
	return opts
}

// said is what an error says, without the paths of files.
func said(err error) string {
	if err == nil {
		return ""
	}
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if i := strings.Index(line, FileName); i >= 0 {
			dir := filepath.Base(filepath.Dir(line[:i+1]))
			line = dir + line[i+len(FileName):]
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

// The first problem names its line and, if possible, what was meant.
func TestProblems(t *testing.T) {
	for _, row := range must.Table[[2]string](t, "testdata/problems.txt") {
		text, want := row[0], row[1]
		_, err := Load(files(t, text, ""))
		must.Equal(t, said(err), want, text)
	}
}

// An agent that is not used may have anything that is wrong: it is told where all are
// listed.
func TestOthersValues(t *testing.T) {
	opts := files(t, "agent='a'\n[agents.a]\nurl='u:'\n[agents.b]\nurl='u:'\neditor-tools='x'\nurls=1", "")
	must.Get(Load(opts))(t)
	opts.Agent = "b"
	_, err := Load(opts)
	must.Fail(t, err, "editor-tools is one of")
	_, list, err := List(opts)
	if err != nil || len(list) != 2 || list[0].Err != nil || said(list[1].Err) != "user:6: editor-tools is one of \"off\", \"started\", \"loopback\"" {
		t.Errorf("%+v, %v", list, err)
	}
}

// A workspace's file may name an agent of the user's and a stricter mode. Any other
// key is refused with a sentence.
func TestHostileWorkspace(t *testing.T) {
	const user = "mode = 'accept-edits'\n[agents.work]\nurl='https://a.example'\n"
	for _, row := range must.Table[[2]string](t, "testdata/hostile.txt") {
		text, want := row[0], row[1]
		opts := files(t, user, text)
		c, err := Load(opts)
		got := strings.ReplaceAll(strings.ReplaceAll(said(err), refused, " REFUSED"), opts.File, "FILE")
		if want != "" {
			want += "; " + workspaceRule
		}
		must.True(t, got == want && (err == nil || c == nil), text, got, want)
	}
}

// A workspace's mode is at least as strict as the user's, and never wins over an option. A workspace that names an agent
// does not get that agent's laxer mode: it holds only if the user names the agent.
func TestWorkspaceMode(t *testing.T) {
	for _, test := range must.Table[struct{ Top, Option, Agent, Named, Workspace, Want string }](t, "testdata/modes.txt") {
		agents := ""
		if test.Agent != "" {
			agents = "\n[agents.a]\nurl='https://a.example'\nmode='" + test.Agent + "'\n[agents.b]\nurl='https://b.example'"
		}
		opts := files(t, test.Top+agents, test.Workspace)
		opts.Mode, opts.Agent = test.Option, test.Named
		got := "refused"
		if c, err := Load(opts); err == nil {
			got = c.Value("mode").Text
		}
		must.Equal(t, got, test.Want, test)
	}
}

// Links, directories and pipes in a workspace are not followed. The user's own file is
// not also a workspace's. A file that everybody may write is ignored.
func TestOddFiles(t *testing.T) {
	dir := t.TempDir()
	user := must.File(t, "[agents.work]\ncommand='x'\n", dir, "user", FileName)
	_, err := Load(&Options{File: user, Workspace: filepath.Dir(user)})
	must.Fail(t, err, "", "the user's own file as a workspace's")
	ws := filepath.Join(dir, "ws")
	for name, make := range map[string]func(path string) error{
		"a link":          func(path string) error { return os.Symlink(user, path) },
		"a directory":     func(path string) error { return os.Mkdir(path, 0o700) },
		"a link to zeros": func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		path := filepath.Join(ws, FileName)
		os.RemoveAll(ws)
		must.Do(t, os.MkdirAll(ws, 0o700))
		if err := make(path); err != nil {
			t.Skip(err)
		}
		_, err := Load(&Options{File: user, Workspace: ws})
		must.Fail(t, err, "no regular file", name)
	}
	os.RemoveAll(ws)
	must.File(t, strings.Repeat("#", maxWorkspaceFile+1), ws, FileName)
	_, err = Load(&Options{File: user, Workspace: ws})
	must.Fail(t, err, "larger than 64 kB")
	must.Do(t, os.Chmod(user, 0o606))
	if writableByAll(must.Get(os.Stat(user))(t)) { // on Windows nobody is told apart
		_, err = Load(&Options{File: user})
		must.Fail(t, err, "everybody may write it")
	}
	_, err = Load(&Options{File: filepath.Join(dir, "none")})
	must.Fail(t, err, "cannot be read")
}

// Variables are put into a header's value, and one that is missing is named.
func TestExpand(t *testing.T) {
	for in, want := range map[string]string{
		"Bearer ${T}": "Bearer tok", "plain $T $": "plain $T $", "$${T} ${T}${T}": "${T} toktok", "": "",
		"${GONE}": "error: X needs the variable GONE, which is not set", "${T": "error", "${}": "error", "${1}": "error", "${NL}": "error",
	} {
		got, err := Header{Name: "X", Value: in}.Expand(func(name string) (string, bool) {
			v, ok := map[string]string{"T": "tok", "NL": "a\nb"}[name]
			return v, ok
		})
		if err != nil {
			got = "error: " + err.Error()
		}
		if want != "error" || err == nil {
			must.Equal(t, got, want, in)
		}
	}
}

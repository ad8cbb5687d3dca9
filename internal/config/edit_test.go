package config

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// Storing an agent changes its table and, if it is to be, the default: every other
// line stays, comments too.
func TestStore(t *testing.T) {
	entries := []Entry{{"url", Quote("https://a.example")}, {"mode", Quote("default")}, {"command", ""}}
	const table = "[agents.work]\nurl = \"https://a.example\"\nmode = \"default\"\n"
	for _, test := range []struct {
		name, before string
		asDefault    bool
		after        string
	}{
		{"nothing", "", false, table},
		{"nothing, default", "", true, "agent = \"work\"\n\n" + table},
		{"behind others", "# mine\nmode = 'yolo'\n\n[agents.x]\ncommand = 'x' # run", false, "# mine\nmode = 'yolo'\n\n[agents.x]\ncommand = 'x' # run\n\n" + table},
		{"in its place", "[agents.work] # old\nurl = 'u:' # note\ntimeout = '1s'\ncommand = 'gone'\n[agents.work.headers]\nA = 'b' # c\n\n# the other\n[agents.x]\ncommand = 'x'\n",
			false, "[agents.work] # old\nmode = \"default\"\nurl = \"https://a.example\" # note\ntimeout = '1s'\n[agents.work.headers]\nA = 'b' # c\n\n# the other\n[agents.x]\ncommand = 'x'\n"},
		{"over lines", "[agents.work]\nmode = \"\"\"\nyolo\"\"\"\nurl='u:'", false, table[:14] + "mode = \"default\"\nurl = \"https://a.example\"\n"},
		{"the default is changed", "mode='yolo'\nagent = 'x' # mine\n[agents.x]\ncommand = 'x'\n", true,
			"mode='yolo'\nagent = \"work\" # mine\n[agents.x]\ncommand = 'x'\n\n" + table},
		{"a comment stays where it is", "# mine\n[agents.x]\ncommand = 'x'\n", true, "agent = \"work\"\n\n# mine\n[agents.x]\ncommand = 'x'\n\n" + table},
		{"an inline table", "agents = { x = { command = 'x' } }\n", false, "error"},
		{"dotted keys", "agents.work.url = 'u:'\n", false, "error"},
		{"in pieces", "[agents.work.headers]\nA='b'\n[agents.work]\nurl='u:'\n", false, "[agents.work.headers]\nA='b'\n[agents.work]\nmode = \"default\"\nurl = \"https://a.example\"\n"},
		{"under agents", "[agents]\nx.url='u:'\n", false, "error"},
		{"no TOML", "mode = yolo\n", false, "error"},
	} {
		path := filepath.Join(t.TempDir(), "a", FileName)
		if test.before != "" {
			must.File(t, test.before, path)
		}
		want := test.after
		err := Store(path, "work", entries, test.asDefault)
		if must.Equal(t, err != nil, want == "error", test.name, err); err != nil {
			want = test.before
		}
		b, _ := os.ReadFile(path)
		must.Equal(t, string(b), want, test.name)
		left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
		must.Equal(t, left, nil, "left behind", test.name)
	}
}

// A file that is linked from elsewhere stays linked, and nobody else can read it.
func TestStoreLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	dir := t.TempDir()
	real := must.File(t, "mode = 'default'\n", dir, "dotfiles", FileName)
	link := filepath.Join(dir, FileName)
	must.Do(t, os.Symlink(real, link))
	must.Do(t, Store(link, "work", []Entry{{"command", Quote("x")}}, false))
	must.Equal(t, must.Get(os.Stat(real))(t).Mode().Perm(), 0o600)
	must.Has(t, string(must.Get(os.ReadFile(real))(t)), "[agents.work]")
	must.Equal(t, must.Get(os.Lstat(link))(t).Mode().Type(), os.ModeSymlink)
}

// The files to begin with say nothing, and each line of them can be made to count.
func TestTemplates(t *testing.T) {
	for line := range strings.Lines(Template()) {
		if line != "\n" && !strings.HasPrefix(line, "#") || len(line) > 110 {
			t.Errorf("%q is no comment, or long", line)
		}
	}
	var b strings.Builder
	for line := range strings.Lines(Template()) {
		key, _, ok := strings.Cut(strings.TrimPrefix(line, "# "), " = ")
		if ok && lookup(key) != nil && key != "command" || strings.HasPrefix(line, "# [agents.") {
			b.WriteString(strings.TrimPrefix(line, "# "))
		}
	}
	c, err := Load(files(t, b.String(), ""))
	must.True(t, err == nil && c.Named && c.Value("url") != nil, err, b.String())
	must.Fail(t, Create(must.File(t, "mine", t.TempDir(), "f"), "x"), "it is there already")
}

// An object may be JSON in a string, which setup stores, and is read as it is.
func TestObject(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	load := func(text string) (*Config, error) {
		must.Do(t, Store(path, "work", []Entry{{"url", Quote("https://a.example")}, {"agent-settings", Quote(text)}}, true))
		return Load(&Options{File: path})
	}
	for _, object := range []string{`{}`, `{"a b":"\"\u0001é","f":1.50,"list":[null,{"x":[]}]}`, `{"":9007199254740993}`} {
		must.Equal(t, must.Get(load(object))(t).Value("agent-settings").Text, object)
	}
	for _, other := range []string{`[1]`, `null`, `{"a":`, `@file`} {
		must.Fail(t, Store(path, "work", []Entry{{"agent-settings", Quote(other)}}, true), "agent-settings is a table like ", other)
	}
}

// FuzzWorkspace: whatever a cloned repository has, it chooses an agent of the user's and
// a mode that is no laxer, or nothing.
func FuzzWorkspace(f *testing.F) {
	for _, seed := range []string{"agent='work'\nmode='default'", "mode='yolo'", "[agents.work]\nurl='u:'", "agents.work.command='x'", "mode.x='default'",
		"trace=~/.bashrc", "\xff", "[[agent]]", "agent=\"\"\"\nwork\"\"\"", "'' = 1", "agent = 'work'\n[mode]"} {
		f.Add(seed)
	}
	const user = "mode='accept-edits'\nagent='other'\n[agents.work]\nurl='u:work'\nmode='yolo'\n[agents.other]\nurl='u:other'\n"
	f.Fuzz(func(t *testing.T, text string) {
		opts := files(t, user, text)
		c, err := Load(opts)
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, opts.Workspace) && !strings.HasPrefix(line, "and ") {
					t.Fatalf("%q: it is not said which file: %v", text, err)
				}
			}
			return
		}
		if !slices.Contains([]string{"work", "other"}, c.Agent) || laxness(c.Value("mode").Text) > laxness("accept-edits") {
			t.Fatalf("%q: %s, %+v", text, c.Agent, c.Value("mode"))
		}
		for _, v := range c.values {
			if v.From.Workspace && v.Key.Name != "mode" {
				t.Fatalf("%q: it has set %s", text, v.Key.Name)
			}
		}
	})
}

// TestKeys: each key has all its members, and its example is taken.
func TestKeys(t *testing.T) {
	for k := range Keys() {
		if k.Help == "" || k.Example == "" || (k.Kind == KindWord) != (k.Words != nil) {
			t.Errorf("%s is not whole: %+v", k.Name, k)
		}
		line := k.Name + " = " + k.Example + "\n"
		text := line + "[agents.work]\nurl='u:'\n"
		if k.In&Top == 0 {
			text = "[agents.work]\nurl='u:'\n" + line
		}
		if k.Name == "url" || k.Name == "command" {
			text = "[agents.work]\n" + line
		}
		opts := files(t, text, "")
		opts.Agent = "work"
		c, err := Load(opts)
		must.True(t, err == nil && c.Value(k.Name) != nil, k.Name, err)
	}
}

// TestCredentialsAreOfAnAgent: credentials must not be in a workspace's file, whose author may not be
// the user; nor at the top, for all agents.
func TestCredentialsAreOfAnAgent(t *testing.T) {
	for k := range Keys() {
		for _, prefix := range []string{"token", "credential", "oauth", "client-", "insecure"} {
			if strings.HasPrefix(k.Name, prefix) && k.In != Agent {
				t.Errorf("%s may stand elsewhere than with an agent", k.Name)
			}
		}
		must.True(t, k.Name != "ca-file" || k.In&Workspace == 0, "a workspace may say whom to trust")
	}
}

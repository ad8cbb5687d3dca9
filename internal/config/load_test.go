package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

func write(t testing.TB, path, text string) string {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// files writes a user's file and a workspace's, where they are not empty, and
// returns the options that lead to them.
func files(t testing.TB, user, workspace string) *Options {
	t.Helper()
	dir := t.TempDir()
	opts := &Options{File: write(t, filepath.Join(dir, "user", FileName), user), Workspace: filepath.Join(dir, "ws")}
	if workspace != "" {
		write(t, filepath.Join(opts.Workspace, FileName), workspace)
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
	for text, want := range map[string]string{
		"mdoe = \"yolo\"": `user:1: there is no key "mdoe": did you mean mode?`,
		"agent='w'\n[agents.w]\nurl='u:'\nheader = {}":    `user:4: there is no key "header": did you mean headers?`,
		"agent='w'\n[agents.w]\nurl='u:'\nextension = []": `user:4: there is no key "extension": did you mean extensions?`,
		"agent='w'\n[agents.w]\nurl='u:'\nlog='x'":        "user:4: log is for all agents: write it at the top of the file, before the first [agents.NAME]",
		"url='u:'":       "user:1: url belongs to an agent: write it below [agents.NAME]",
		"zzzzzzz = 1":    `user:1: there is no key "zzzzzzz"`,
		"mode = 'all'":   `user:1: mode is one of "default", "accept-edits", "yolo"`,
		"timeout = 30":   `user:1: timeout is a time like "30s" or "2m"`,
		"timeout = '0s'": `user:1: timeout is a time like "30s" or "2m"`,
		"agent='w'\n[agents.w]\nurl='u:'\nforward-mcp='yes'":              "user:4: forward-mcp is true or false",
		"agent='w'\n[agents.w]\nurl='u:'\nextensions='x'":                 `user:4: extensions is a list like ["https://example.com/extension/v1"]`,
		"agent='w'\n[agents.w]":                                           "user:2: the agent w needs a url, or a command that starts it",
		"agent='w'\n[agents.w]\nurl='u:'\ncommand='x'":                    "user:2: the agent w has a url and a command: which of them is it?",
		"[agents.w]\nurl='u:'\n[agents.w]":                                "user:3: this is not TOML: table w already exists",
		"mode='yolo'\nmode='yolo'":                                        "user:2: this is not TOML: key mode is already defined",
		"[agents.demo]\nurl='u:'":                                         `user:1: "demo" is no name for an agent: a name has letters, digits, - and _, begins with a letter or digit, and is not demo`,
		"[[agents]]\nurl='u:'":                                            "user:1: agents are tables with a name: write [agents.NAME], and url or command below it",
		"[agnets.w]\nurl='u:'":                                            `user:1: there is no table "agnets": did you mean agents?`,
		"[mode]\nx=1":                                                     `user:1: mode is one of "default", "accept-edits", "yolo"`,
		"agents = 1":                                                      "user:1: agents are tables with a name: write [agents.NAME], and url or command below it",
		"agent = 'wrok'\n[agents.work]\nurl='u:'":                         `user:1: there is no agent "wrok": did you mean work?`,
		"zzzzzzz = 1\nmode = 'all'":                                       `user:1: there is no key "zzzzzzz"`,
		"x = 1\ny = [":                                                    "user:2: this is not TOML: array is incomplete",
		"agent='w'\n[agents.w]\nurl='u:'\nheaders = { X = '${' }":         "user:4: headers: X has a \"${\" that is not the beginning of a variable: ${NAME} is one, and $${ stands for the characters",
		"agent='w'\n[agents.w]\nurl='u:'\nheaders = { X = 'a', x = 'b' }": "user:4: headers: x is there twice",
		"agent='w'\n[agents.w]\nurl='u:'\nheaders = { 'a b' = 'a' }":      `user:4: headers: "a b" is no header: a header is written like Authorization = "…"`,
		"agent='w'\n[agents.w]\nurl='u:'\nheaders.X='a'\nheaders={}":      "user:5: this is not TOML: key headers is already defined",
		"agent='w'\n[agents.w]\nurl='u:'\nagent-settings={a=inf}":         "user:4: agent-settings: JSON has no such value: json: unsupported value: +Inf",
	} {
		_, err := Load(files(t, text, ""))
		must.Equal(t, said(err), want, text)
	}
}

// An agent that is not used may have anything that is wrong: it is told where all are
// listed.
func TestOthersValues(t *testing.T) {
	opts := files(t, "agent='a'\n[agents.a]\nurl='u:'\n[agents.b]\nurl='u:'\nmode='x'\nurls=1", "")
	must.Get(Load(opts))(t)
	opts.Agent = "b"
	_, err := Load(opts)
	must.Fail(t, err, "mode is one of")
	_, list, err := List(opts)
	if err != nil || len(list) != 2 || list[0].Err != nil || said(list[1].Err) != "user:6: mode is one of \"default\", \"accept-edits\", \"yolo\"" {
		t.Errorf("%+v, %v", list, err)
	}
}

// A workspace's file may name an agent of the user's and a stricter mode. Any other
// key is refused with a sentence.
func TestHostileWorkspace(t *testing.T) {
	const user = "mode = 'accept-edits'\n[agents.work]\nurl='https://a.example'\n"
	for text, want := range map[string]string{
		"agent='work'\nmode='default'": "",
		"mode='accept-edits'":          "",
		"mode='yolo'":                  "ws:1: mode is refused: yolo is laxer than yours, which is accept-edits",
		"agent='wrok'":                 `ws:1: agent is refused: there is no agent "wrok": did you mean work? (yours are in FILE)`,
		"agent='https://evil.example'": "ws:1: agent is refused: in a workspace it is the name of an agent that your own file defines",
		"agent='demo'":                 "ws:1: agent is refused: in a workspace it is the name of an agent that your own file defines",
		"agent='./card.json'":          "ws:1: agent is refused: in a workspace it is the name of an agent that your own file defines",
		"trace = '~/.bashrc'":          `ws:1: "trace" REFUSED`,
		"trace=~/.bashrc":              "ws:1: this is not TOML: unexpected character U+007E '~' at start of value",
		"command='rm -rf ~'":           `ws:1: "command" REFUSED`,
		"headers={A='b'}":              `ws:1: "headers" REFUSED`,
		"\ntrust-origins=['https://evil.example']\nnonsense=1": `ws:2: "trust-origins" REFUSED`,
		"forward-mcp=true": `ws:1: "forward-mcp" REFUSED`,
		"nonsense=1":       `ws:1: "nonsense" REFUSED`,
		"[agents.work]\nurl='https://evil.example'": `ws:1: "agents" REFUSED`,
		"agents.work.url='https://evil.example'":    `ws:1: "agents" REFUSED`,
	} {
		opts := files(t, user, text)
		c, err := Load(opts)
		got := strings.ReplaceAll(strings.ReplaceAll(said(err), refused, " REFUSED"), opts.File, "FILE")
		if want != "" {
			want += "; " + workspaceRule
		}
		if got != want || err != nil && c != nil {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// A workspace's mode is at least as strict as the user's, and never wins over an option. A workspace that names an agent
// does not get that agent's laxer mode: it holds only if the user names the agent.
func TestWorkspaceMode(t *testing.T) {
	for _, test := range []struct{ top, option, agent, named, workspace, want string }{
		{"", "", "", "", "mode='default'", "default"},
		{"", "", "", "", "mode='accept-edits'", "refused"},
		{"mode='yolo'", "", "", "", "mode='accept-edits'", "accept-edits"},
		{"mode='yolo'", "", "", "", "mode='yolo'", "yolo"},
		{"mode='accept-edits'", "", "", "", "mode='yolo'", "refused"},
		{"", "yolo", "", "", "mode='accept-edits'", "accept-edits"}, // which the option wins over, in the command line
		{"mode='yolo'", "default", "", "", "mode='accept-edits'", "accept-edits"},
		{"mode='default'", "default", "", "", "mode='accept-edits'", "refused"},
		{"", "", "yolo", "", "agent='a'", "default"},
		{"", "", "accept-edits", "", "agent='a'", "default"},
		{"mode='accept-edits'", "", "yolo", "", "agent='a'", "accept-edits"},
		{"mode='yolo'", "", "yolo", "", "agent='a'", "yolo"},
		{"mode='accept-edits'", "", "default", "", "agent='a'", "default"},
		{"agent='b'", "", "yolo", "", "agent='a'", "default"},
		{"agent='a'", "", "yolo", "", "agent='a'", "yolo"}, // it is the user's choice, too
		{"", "", "yolo", "a", "agent='a'", "yolo"},
		{"", "", "yolo", "", "agent='a'\nmode='default'", "default"},
		{"", "", "yolo", "", "agent='a'\nmode='accept-edits'", "refused"},
		{"mode='accept-edits'", "", "default", "", "agent='a'\nmode='accept-edits'", "accept-edits"},
	} {
		agents := ""
		if test.agent != "" {
			agents = "\n[agents.a]\nurl='https://a.example'\nmode='" + test.agent + "'\n[agents.b]\nurl='https://b.example'"
		}
		opts := files(t, test.top+agents, test.workspace)
		opts.Mode, opts.Agent = test.option, test.named
		got := "refused"
		if c, err := Load(opts); err == nil {
			got = c.Value("mode").Text
		}
		must.Equal(t, got, test.want, test)
	}
}

// Links, directories and pipes in a workspace are not followed. The user's own file is
// not also a workspace's. A file that everybody may write is ignored.
func TestOddFiles(t *testing.T) {
	dir := t.TempDir()
	user := write(t, filepath.Join(dir, "user", FileName), "[agents.work]\ncommand='x'\n")
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
	write(t, filepath.Join(ws, FileName), strings.Repeat("#", maxWorkspaceFile+1))
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

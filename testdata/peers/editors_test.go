package peers

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A snippet is a block of docs/editors.md, or what setup --editor prints.
type snippet struct{ section, language, text string }

func snippets(t *testing.T) (all []snippet) {
	t.Helper()
	doc := mustGet(os.ReadFile(filepath.Join("..", "..", "docs", "editors.md")))(t)
	section := ""
	block := regexp.MustCompile("(?ms)^#+ ([^\n]*)$|^```(\\w+)\n(.*?)^```")
	for _, m := range block.FindAllStringSubmatch(string(doc), -1) {
		if m[1] != "" {
			section = m[1]
			continue
		}
		all = append(all, snippet{section, m[2], m[3]})
	}
	if len(all) < 3 {
		t.Fatalf("docs/editors.md has %d snippets", len(all))
	}
	for name, language := range map[string]string{ // which it has not
		"jetbrains": "json", "avante": "lua", "codecompanion": "lua", "agent-shell": "elisp", "vscode": "json",
		"codex": "toml", "opencode": "json", "vscode-mcp": "json", "goose": "yaml",
	} {
		all = append(all, snippet{name, language, settingsFor(t, name, "http://localhost:41242", "Authorization: Bearer TOKEN")})
	}
	return all
}

// A started is a program with the editor's arguments and environment.
type started struct {
	command string
	args    []string
	env     []string
}

// findStarted finds the program to start in an editor's settings, at any depth.
func findStarted(v any) (all []started) {
	text := func(list any) (texts []string) {
		items, _ := list.([]any)
		for _, item := range items {
			s, _ := item.(string)
			texts = append(texts, s)
		}
		return texts
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			all = append(all, findStarted(item)...)
		}
	case map[string]any:
		var s started
		s.command, _ = v["command"].(string)
		if cmd, ok := v["cmd"].(string); ok {
			s.command = cmd
		}
		s.args = text(v["args"])
		if words := text(v["command"]); len(words) > 0 { // opencode
			s.command, s.args = words[0], words[1:]
		}
		if commands, ok := v["commands"].(map[string]any); ok { // CodeCompanion
			if list := text(commands["default"]); len(list) > 0 {
				s.command, s.args = list[0], list[1:]
			}
		}
		if s.command != "" {
			for _, key := range []string{"env", "environment", "envs"} {
				env, _ := v[key].(map[string]any)
				for name, value := range env {
					value, _ := value.(string)
					s.env = append(s.env, name+"="+value)
				}
			}
			return append(all, s)
		}
		for _, item := range v {
			all = append(all, findStarted(item)...)
		}
	}
	return all
}

// The program of each snippet is an ACP agent that gets its credentials, with only PATH
// and the snippet's variables in its environment.
func TestEditorSnippets(t *testing.T) {
	for _, s := range snippets(t) {
		t.Run(s.section, func(t *testing.T) {
			t.Parallel()
			var settings any
			switch s.language {
			case "json":
				mustDo(t, json.Unmarshal([]byte(s.text), &settings))
			case "lua":
				settings = runLua(t, s.text)
			case "toml", "yaml":
				settings = readFlat(t, s.text)
			case "sh":
				parse(t, s.text, "bash", "-n")
				return
			case "elisp":
				parse(t, s.text, "emacs", "--batch", "--eval", `(progn (insert-file-contents "/dev/stdin") (check-parens))`)
				return
			default:
				t.Fatalf("a snippet in %q", s.language)
			}
			all := findStarted(settings)
			if len(all) != 1 || filepath.Base(all[0].command) != "a2astdio" {
				t.Fatalf("what is started is %+v", all)
			}
			startedSpeaks(t, all[0])
		})
	}
}

// readFlat reads the keys of one table of TOML, or of one map of YAML, whose values are JSON
// but for the keys of an inline table.
func readFlat(t *testing.T, text string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, m := range regexp.MustCompile(`(?m)^ *(\w+)(?: = |: )(["\[{].*)$`).FindAllStringSubmatch(text, -1) {
		var value any
		mustDo(t, json.Unmarshal([]byte(regexp.MustCompile(`(\w+) = `).ReplaceAllString(m[2], `"$1": `)), &value))
		all[m[1]] = value
	}
	return all
}

// parse has a program read a snippet.
func parse(t *testing.T, text, program string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("this snippet is read by %s, which is not here", program)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v %s", program, err, out)
	}
}

// standIns replace the plugins: they print their settings.
const standIns = `
local function out(o) io.stdout:write(vim.json.encode(o)) end
local function resolve(o)
  if type(o) == "function" then return resolve(o()) end
  if type(o) == "table" then for k, v in pairs(o) do o[k] = resolve(v) end end
  return o
end
for _, name in ipairs({ "avante", "codecompanion" }) do
  package.preload[name] = function() return { setup = function(o) out(resolve(o)) end } end
end
package.preload["codecompanion.adapters.acp.helpers"] = function() return { form_messages = function() end } end
`

// runLua runs a snippet in Neovim, with stand-ins for the plugins, and returns what
// it has set up.
func runLua(t *testing.T, text string) (settings any) {
	t.Helper()
	if _, err := exec.LookPath("nvim"); err != nil {
		t.Skip("this snippet is run by nvim, which is not here")
	}
	file := filepath.Join(t.TempDir(), "snippet.lua")
	write(t, file, standIns+text)
	cmd := exec.Command("nvim", "--headless", "--clean", "+luafile "+file, "+qa!")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || json.Unmarshal(out, &settings) != nil {
		t.Fatalf("%v: %s %s", err, out, &stderr)
	}
	return settings
}

// newAsked is a server that records the credentials of requests, and is no agent.
func newAsked(t *testing.T) (url string, credentials <-chan string) {
	t.Helper()
	got := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case got <- r.Header.Get("Authorization"):
		default:
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

func wantCredentials(t *testing.T, credentials <-chan string) {
	t.Helper()
	select {
	case got := <-credentials:
		equal(t, got, "Bearer TOKEN")
	case <-time.After(patience):
		t.Error("the agent was not asked")
	}
}

// startedSpeaks starts a2astdio like an editor that passes on only PATH.
func startedSpeaks(t *testing.T, s started) {
	t.Helper()
	url, credentials := newAsked(t)
	args := slices.Clone(s.args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "http://localhost:41242", url)
	}
	cmd := exec.Command(binary, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, s.env...)
	cmd.Dir = t.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, stdout := startPiped(t, cmd)
	hello, answer := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`, `"protocolVersion":1`
	if slices.Contains(s.args, "mcp") {
		hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}` + "\n" +
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_agents"}}`
		answer = `"protocolVersion":"2025-06-18"`
	}
	_, _ = io.WriteString(stdin, hello+"\n")
	wantCredentials(t, credentials)
	_ = stdin.Close()
	said, _ := io.ReadAll(stdout) // to the end
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, &stderr)
	}
	contains(t, "the answer", string(said), answer)
}

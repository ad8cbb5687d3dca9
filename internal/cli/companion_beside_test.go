package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
)

// TestCompanionBeside: --companion serves the editor's terminal on the bridge's stdio,
// in both protocols. An ACP editor that did not ask gets nothing of it. --context adds
// the active file to a prompt, not to a slash command.
func TestCompanionBeside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(file, []byte("package a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(file)
	look, _ := json.Marshal(map[string]any{"workspaceState": map[string]any{"openFiles": []any{
		map[string]any{"path": file, "timestamp": 1, "isActive": true, "selectedText": "package"}}}})
	open := func(announced string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{%s}}}
{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}
`, announced, dir)
	}
	prompt := func(text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":%q}]}}`+"\n", text)
	}
	const announcement = `"_meta":{"a2astdio":{"companion":{"version":1}}}`
	for _, test := range []struct {
		name, in, method, started string
		code                      int64 // the error code of the answer to ide/contextUpdate; 0: {}
		then                      string
		context                   bool
	}{
		{"an ACP editor that announces it", open(announcement), "_ide/contextUpdate", "_companion/started", 0, prompt("hello"), true},
		{"a slash command", open(announcement), "_ide/contextUpdate", "_companion/started", 0, prompt("/memory show"), false},
		{"an ACP editor that does not", open(""), "_ide/contextUpdate", "", 0, prompt("hello"), true},
		{"an ACP editor without a session", open("")[:strings.Index(open(""), "\n")+1], "_ide/contextUpdate", "", -32603, "", false},
		{"A2A lines, begun with the companion's words", "", "ide/contextUpdate", "companion/started", 0,
			`{"jsonrpc":"2.0","id":4,"method":"message/stream","params":{"text":"hello"}}` + "\n", true},
		{"what it cannot read", open(""), "_ide/unknown", "", -32601, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			companionPlaces(t)
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			trace := filepath.Join(t.TempDir(), "trace")
			in, editor := io.Pipe()
			lines, out := io.Pipe()
			done := make(chan int, 1)
			go func() { // ends with its input
				args := []string{"a2astdio", "--agent", "demo", "--companion", "--context", "--workspace", dir, "--trace", trace}
				done <- Main(t.Context(), args, in, out, io.Discard, "v0")
				out.Close()
			}()
			got := bufio.NewScanner(lines)
			started, session := "", ""
			answer := func(id string) gjson.Result {
				for got.Scan() {
					m := gjson.Parse(got.Text())
					if strings.HasSuffix(m.Get("method").Str, "companion/started") {
						started = m.Get("method").Str
					}
					if opened := m.Get("result.sessionId").Str; opened != "" {
						session = opened
					}
					if m.Get("id").Raw == id {
						return m
					}
				}
				t.Fatalf("no answer to %s", id)
				return gjson.Result{}
			}
			go func() { // ends with the pipe
				_, _ = io.WriteString(editor, test.in)
				_, _ = fmt.Fprintf(editor, `{"jsonrpc":"2.0","id":3,"method":%q,"params":%s}`+"\n", test.method, look)
			}()
			said := answer("3")
			if said.Get("error.code").Int() != test.code || test.code == 0 && said.Get("result").Raw != "{}" {
				t.Errorf("%s is answered with %s", test.method, said.Raw)
			}
			if test.then != "" {
				if strings.Contains(test.then, "SESSION") && session == "" {
					answer("2")
				}
				go func() { _, _ = io.WriteString(editor, strings.Replace(test.then, "SESSION", session, 1)) }()
				answer("4")
			}
			editor.Close()
			for got.Scan() { // unread lines
			}
			if status := <-done; status != frame.ExitOK {
				t.Errorf("it ended with %d", status)
			}
			if started != test.started {
				t.Errorf("the editor was told %q, and not %q", started, test.started)
			}
			wire, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(string(wire), "Selected in "); has != test.context {
				t.Errorf("the agent gets the selection: %v", has)
			}
		})
	}
}

// TestCompanionWaits: --companion serves the terminal before an agent is set up, and
// continues after.
func TestCompanionWaits(t *testing.T) {
	ownHome(t)
	companionPlaces(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(file, []byte("package a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	look, _ := json.Marshal(map[string]any{"workspaceState": map[string]any{"openFiles": []any{
		map[string]any{"path": file, "timestamp": 1, "isActive": true, "selectedText": "package"}}}})
	params, _ := json.Marshal(map[string]any{"cwd": filepath.Dir(file), "mcpServers": []any{}})
	trace := filepath.Join(t.TempDir(), "trace")
	e := newEditor(t, "--companion", "--context", "--trace", trace, "--on-eof", "finish")
	e.ask("initialize", `{"protocolVersion":1,"clientCapabilities":{"_meta":{"a2astdio":{"companion":{"version":1}}}}}`)
	if r := e.ask("session/new", string(params)); r.Get("error.code").Int() != -32000 {
		t.Fatalf("session/new without an agent: %s", r)
	}
	if status, _, stderr := runMain("", "setup", "--no-input", "--name", "mine", "demo"); status != 0 {
		t.Fatal(status, stderr)
	}
	r, said := e.askSeen("session/new", string(params))
	id := r.Get("result.sessionId").Str
	answer, more := e.askSeen("_ide/contextUpdate", string(look))
	if answer.Get("result").Raw != "{}" {
		t.Errorf("_ide/contextUpdate: %s", answer)
	}
	if !strings.Contains(said+more, `"_companion/started"`) {
		t.Errorf("it was not said that the companion is there: %s%s", said, more)
	}
	e.ask("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"hello"}]}`, id))
	if wire, err := os.ReadFile(trace); err != nil || !strings.Contains(string(wire), "Selected in ") {
		t.Errorf("the agent does not get the selection: %v", err)
	}
}

// companionPlaces gives the test its own discovery directories.
func companionPlaces(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP", "QWEN_HOME"} {
		t.Setenv(name, dir)
	}
}

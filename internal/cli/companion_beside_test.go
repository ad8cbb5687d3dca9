package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lookedAt is a directory with a file, and the editor's context with a selection in it.
func lookedAt(t *testing.T) (dir, look string) {
	t.Helper()
	dir = t.TempDir()
	file := privateFile(t, dir, "a.go", "package a\n")
	b, _ := json.Marshal(map[string]any{"workspaceState": map[string]any{"openFiles": []any{
		map[string]any{"path": file, "timestamp": 1, "isActive": true, "selectedText": "package"}}}})
	return dir, string(b)
}

// TestCompanionBeside: --companion serves the editor's terminal on the bridge's stdio,
// in both protocols. An ACP editor that did not ask gets nothing of it. --context adds
// the active file to a prompt, not to a slash command.
func TestCompanionBeside(t *testing.T) {
	dir, look := lookedAt(t)
	const announcement = `"_meta":{"a2astdio":{"companion":{"version":1}}}`
	for _, test := range []struct {
		name, announced string
		session         bool // in ACP; without one, and without an announcement: A2A lines
		method, started string
		code            int64 // the error code of the answer to ide/contextUpdate; 0: {}
		prompt          string
		context         bool
	}{
		{"an ACP editor that announces it", announcement, true, "_ide/contextUpdate", "_companion/started", 0, "hello", true},
		{"a slash command", announcement, true, "_ide/contextUpdate", "_companion/started", 0, "/memory show", false},
		{"an ACP editor that does not", " ", true, "_ide/contextUpdate", "", 0, "hello", true},
		{"an ACP editor without a session", " ", false, "_ide/contextUpdate", "", -32603, "", false},
		{"A2A lines, begun with the companion's words", "", false, "ide/contextUpdate", "companion/started", 0, "hello", true},
		{"what it cannot read", " ", true, "_ide/unknown", "", -32601, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			companionPlaces(t)
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			trace, session := filepath.Join(t.TempDir(), "trace"), ""
			e := newEditor(t, "--agent", "demo", "--companion", "--context", "--workspace", dir, "--trace", trace)
			if test.announced != "" {
				e.ask("initialize", `{"protocolVersion":1,"clientCapabilities":{`+test.announced+`}}`)
			}
			if test.session {
				session = e.ask("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, dir)).Get("result.sessionId").Str
			}
			said := e.ask(test.method, look)
			if said.Get("error.code").Int() != test.code || test.code == 0 && said.Get("result").Raw != "{}" {
				t.Errorf("%s is answered with %s", test.method, said.Raw)
			}
			switch {
			case test.prompt == "":
			case test.session:
				e.ask("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, session, test.prompt))
			default:
				e.ask("message/stream", fmt.Sprintf(`{"text":%q}`, test.prompt))
			}
			if stderr := e.end(); stderr != "" {
				t.Error(stderr)
			}
			started := ""
			if m := regexp.MustCompile(`"method":"(\w*companion/started)"`).FindStringSubmatch(e.all.String()); m != nil {
				started = m[1]
			}
			if started != test.started {
				t.Errorf("the editor was told %q, and not %q", started, test.started)
			}
			if wire, err := os.ReadFile(trace); err != nil || strings.Contains(string(wire), "Selected in ") != test.context {
				t.Errorf("the agent gets the selection: %v, %v", !test.context, err)
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
	dir, look := lookedAt(t)
	params := fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, dir)
	trace := filepath.Join(t.TempDir(), "trace")
	e := newEditor(t, "--companion", "--context", "--trace", trace, "--on-eof", "finish")
	e.ask("initialize", `{"protocolVersion":1,"clientCapabilities":{"_meta":{"a2astdio":{"companion":{"version":1}}}}}`)
	if r := e.ask("session/new", params); r.Get("error.code").Int() != -32000 {
		t.Fatalf("session/new without an agent: %s", r)
	}
	if status, _, stderr := runMain("", "setup", "--no-input", "--name", "mine", "demo"); status != 0 {
		t.Fatal(status, stderr)
	}
	r, said := e.askSeen("session/new", params)
	id := r.Get("result.sessionId").Str
	answer, more := e.askSeen("_ide/contextUpdate", look)
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

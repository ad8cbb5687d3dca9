package cli

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestMCPFiles: what the user's file says of all agents holds for an MCP client, and each agent
// has a trace of its own.
func TestMCPFiles(t *testing.T) {
	home, _ := ownPlaces(t)
	t.Setenv("XDG_CONFIG_HOME", "")
	agent := demo.New(&demo.Options{Version: "both", Pace: -1})
	server := httptest.NewServer(agent)
	t.Cleanup(func() { server.Close(); agent.Close() })
	trace := filepath.Join(home, "trace")
	file := config.UserFile()
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	text := fmt.Sprintf("agent = 'one'\ntrace = %q\nmcp-wait = '1s'\n[agents.one]\nurl = %q\n[agents.two]\nurl = %[2]q\n", trace, server.URL+"/")
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	e := newEditor(t, "mcp")
	e.call(0, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{}}`)
	if r := e.call(1, "tools/call", `{"name":"send_message","arguments":{"agent":"two","text":"ask"}}`); !strings.Contains(r.Raw, "handle: two.") {
		t.Errorf("an answer: %s", r.Raw)
	}
	if r := e.call(2, "tools/call", `{"name":"send_message","arguments":{"agent":"two","text":"slow"}}`); !strings.HasPrefix(r.Get("result.content.0.text").Str, "state: working\n") {
		t.Errorf("after a second: %s", r.Raw)
	}
	e.call(3, "tools/call", `{"name":"list_agents"}`)
	e.end()
	for file, want := range map[string]string{trace: `"method":"initialize"`, trace + ".two": `"method":"SendStreamingMessage"`} {
		if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s has no %s: %v", file, want, err)
		}
	}
}

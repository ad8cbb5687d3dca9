package peers

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// With --forward-mcp a started agent has the editor's MCP servers, by session, beside
// those of the user's settings. Nothing in the user's home changes, and no token is
// left behind.
func TestGeminiForwardMCP(t *testing.T) {
	t.Parallel()
	gemini(t)
	shouts := startShouter(t)
	home := t.TempDir()
	settings := fmt.Sprintf("{ // the user's own\n\"mcpServers\": {\"mine\": {\"httpUrl\": %q, \"headers\": {\"Authorization\": \"Bearer mine\"}}}}", shouts.url)
	mustDo(t, os.Mkdir(filepath.Join(home, ".gemini"), 0o700))
	write(t, filepath.Join(home, ".gemini", "settings.json"), settings)

	e := openAt(t, home, "--agent-command", geminiCommand(t), "--forward-mcp", "--timeout", "60s")
	say := mustGet(filepath.Abs(filepath.Join("gemini", "mcp.mjs")))(t)
	stdio := map[string]any{"name": "echo", "command": "node", "args": []string{say, "an argument"},
		"env": []map[string]string{{"name": "SAY_TOKEN", "value": "token-of-the-first"}}}
	web := map[string]any{"type": "http", "name": "loud", "url": shouts.url,
		"headers": []map[string]string{{"name": "Authorization", "value": "Bearer token-of-the-second"}}}
	first, second, third := e.NewSession(workspace(t), stdio), e.NewSession(workspace(t), web), e.NewSession(workspace(t))

	one, two := e.Prompt(first, "[[mcp_say]]"), e.Prompt(second, "[[mcp_shout]]")
	o := one.End("end_turn")
	contains(t, "the tool's answer", onlyCall(t, o).Output(), "hi, with token-of-the-first and an argument")
	contains(t, "the text", o.Text, "Said.")
	o = two.End("end_turn")
	contains(t, "the tool's answer", onlyCall(t, o).Output(), "HI")
	for _, token := range []string{"Bearer mine", "Bearer token-of-the-second"} {
		if !shouts.has(token) {
			t.Errorf("no agent has come with %q", token)
		}
	}
	// A session without servers gets no other session's.
	o = e.Prompt(third, "[[mcp_say]]").End("end_turn")
	if call := onlyCall(t, o); call.Status != "failed" {
		t.Errorf("the third session has the first one's server: %s: %s", call.Status, call.Output())
	}

	private := homesOf(t, home)
	if len(private) != 1 {
		t.Errorf("the agent has %d homes", len(private))
	}
	for _, dir := range private {
		if left, err := os.ReadDir(filepath.Join(dir, ".gemini", "extensions")); err != nil || len(left) > 0 {
			t.Errorf("the servers are still written down: %v %v", left, err)
		}
	}
	e.Close()
	if left := homesOf(t, home); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	wantFile(t, settings, home, ".gemini", "settings.json")
}

// homesOf are the directories made for agents of a user.
func homesOf(t *testing.T, home string) (dirs []string) {
	t.Helper()
	all := mustGet(filepath.Glob(filepath.Join(os.TempDir(), "a2astdio-gemini-*")))(t)
	for _, dir := range all {
		if to, err := os.Readlink(filepath.Join(dir, ".gemini", "settings.json")); err == nil && to == filepath.Join(home, ".gemini", "settings.json") {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// With --editor-tools a started agent reads what the editor has not saved, and writes through
// it: asked twice, by the agent for its tool and for the change itself.
func TestGeminiEditorTools(t *testing.T) {
	t.Parallel()
	gemini(t)
	dir := workspace(t)
	write(t, filepath.Join(dir, "edit.txt"), "on the disk")
	path := filepath.Join(dir, "edit.txt")
	e := openFiles(t, t.TempDir(), map[string]string{path: "not saved"}, "--agent-command", geminiCommand(t), "--editor-tools", "started", "--timeout", "60s")
	s := e.NewSession(dir)
	o := e.Prompt(s, script("mcp_read", dir)).End("end_turn")
	contains(t, "the tool's answer", onlyCall(t, o).Output(), "not saved")

	o = e.Prompt(s, script("mcp_write", dir)).End("end_turn")
	if got := e.Buffer(path); got != "by the agent" || len(o.Calls) != 2 {
		t.Errorf("the buffer has %q, after %d calls", got, len(o.Calls))
	}
	wantFile(t, "on the disk", path)
	e.SetPolicy(func(p *Permission) string {
		if strings.HasPrefix(p.CallID, "a2astdio-write-") {
			return No
		}
		return Once
	})
	o = e.Prompt(s, script("mcp_write", dir)).End("end_turn")
	contains(t, "the tool's answer", o.Calls[0].Output()+o.Calls[1].Output(), "the user has not allowed it")
}

// A server that we have not started does not read our files: the user is told once.
func TestGeminiForwardMCPElsewhere(t *testing.T) {
	t.Parallel()
	e := open(t, "--agent", gemini(t), "--forward-mcp")
	s := e.NewSession(workspace(t), map[string]any{"name": "echo", "command": "node", "args": []string{}, "env": []any{}})
	o := e.Prompt(s, "[[hello]]").End("end_turn")
	contains(t, "the text", o.Text, "It gets them if a2astdio starts it, by --agent-command.")
	if o = e.Prompt(s, "[[hello]]").End("end_turn"); o.Text != "Hello from the fake model." {
		t.Errorf("it is said twice: %q", o.Text)
	}
}

// geminiCommand is a command that starts a Gemini server, with the shared one's model.
func geminiCommand(t *testing.T) string {
	return "GEMINI_API_KEY=fake GEMINI_TELEMETRY_ENABLED=false GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:" + geminiServer.model +
		" node " + filepath.Join(geminiDir(t), "node_modules", "@google", "gemini-cli-a2a-server", "dist", "a2a-server.mjs")
}

// A shouter is an MCP server on HTTP with one tool, shout, that wants a credential.
type shouter struct {
	url  string
	mu   sync.Mutex
	seen map[string]bool
}

func (s *shouter) has(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[token]
}

func startShouter(t *testing.T) *shouter {
	server := mcp.NewServer(&mcp.Implementation{Name: "shouter", Version: "1"}, nil)
	type words struct {
		What string `json:"what"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "shout", Description: "Shouts it"}, func(context.Context, *mcp.CallToolRequest, words) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "HI"}}}, nil, nil
	})
	s := &shouter{seen: map[string]bool{}}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("Authorization")
		if token == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.mu.Lock()
		s.seen[token] = true
		s.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.CloseClientConnections)
	s.url = web.URL
	return s
}

package peers

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The official Go SDK's client, which first asks for MCP 2026-07-28, agrees with the
// companion on a version with notifications.
func TestCompanionGoSDK(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	e := openCompanion(t, p)
	file := filepath.Join(p.workspace, "accept")
	write(t, file, "alpha\n")
	e.show(file, "selected")
	var heard logged
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "v1.8.0"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: e.started.url(), HTTPClient: &http.Client{Transport: &bearer{e.started.AuthToken, &heard}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if v := session.InitializeResult().ProtocolVersion; v != "2025-11-25" {
		t.Errorf("they speak MCP %s", v)
	}
	if err := session.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 2 || tools.Tools[0].Name != "openDiff" {
		t.Errorf("%v %+v", err, tools)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "openDiff", Arguments: map[string]any{"filePath": file, "newContent": "new\n"}})
	if err != nil || result.IsError || len(result.Content) != 0 {
		t.Errorf("%v %+v", err, result)
	}
	heard.want(t, `"method":"ide/diffAccepted","params":{"filePath":"`+file+`","content":"new\nedited\n"}`)
	heard.want(t, `"method":"ide/contextUpdate","params":{"workspaceState":{"openFiles":[{"path":"`+file+`"`)
	if result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "closeDiff", Arguments: map[string]any{"file": 1}}); err != nil || !result.IsError {
		t.Errorf("%v %+v", err, result)
	}
}

// A bearer adds the token, and records the answers.
type bearer struct {
	token string
	heard *logged
}

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(response.Body, b.heard), response.Body}
	}
	return response, err
}

// logged is what a session received.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) want(t *testing.T, text string) {
	t.Helper()
	var all string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		l.mu.Lock()
		all = l.b.String()
		l.mu.Unlock()
		if strings.Contains(all, text) {
			return
		}
	}
	t.Errorf("nobody said %s:\n%s", text, all)
}

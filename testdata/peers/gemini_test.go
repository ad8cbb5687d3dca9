package peers

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The published Gemini CLI A2A server, with a scripted model: script/gemini_*.txtar.
func TestGemini(t *testing.T) { play(t, "gemini_") }

// startTime bounds the server's installation and start.
const startTime = 5 * time.Minute

// geminiServer is one server for all tests, which takes four seconds and half a
// gigabyte. The first test that needs it starts it, and TestMain ends it.
var geminiServer struct {
	once  sync.Once
	url   string
	model string // the port of the scripted model
	end   func()
}

// gemini returns the URL of a running Gemini CLI A2A server.
func gemini(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the Gemini server is 500 MB: not with -short")
	}
	for _, tool := range []string{"bash", "curl", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the Gemini server needs %s, which is not here", tool)
		}
	}
	needNode(t, 20)
	g := &geminiServer
	g.once.Do(func() {
		run := mustGet(os.MkdirTemp("", "a2astdio-gemini-"))(t)
		port, model := freePorts(t)
		g.url, g.end = startGemini(t, run, port, model)
		g.model = model
	})
	if g.url == "" {
		t.Fatal("the Gemini server has not started")
	}
	return g.url
}

// geminiDir is where the server is installed.
func geminiDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(mustGet(peersDir())(t), "gemini-0.25.2")
}

// peersDir is where peers are installed.
func peersDir() (string, error) {
	if dir := os.Getenv("A2ASTDIO_PEERS"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("where to install peers: %v: set A2ASTDIO_PEERS", err)
	}
	return filepath.Join(cache, "a2astdio", "peers"), nil
}

// startGemini starts a server at a port, with what is in run.
func startGemini(t *testing.T, run, port, model string) (url string, end func()) {
	t.Helper()
	cmd := exec.Command("bash", filepath.Join("gemini", "run.sh"), geminiDir(t), port, model, run)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, stdout := startPiped(t, cmd)
	end = func() {
		stdin.Close() // which ends it
		_ = cmd.Wait()
		os.RemoveAll(run)
	}
	late := time.AfterFunc(startTime, func() { stdin.Close() })
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	late.Stop()
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "ready" {
		log, _ := os.ReadFile(filepath.Join(run, "server.log"))
		end()
		t.Fatalf("the Gemini server did not start: %s%s%s", line, stderr.String(), log)
	}
	return words[1], end
}

func freePorts(t *testing.T) (a, b string) {
	t.Helper()
	var ports [2]string
	for i := range ports {
		l := mustGet(net.Listen("tcp", "127.0.0.1:0"))(t)
		defer l.Close() // both stay open until both numbers are known
		_, ports[i], _ = net.SplitHostPort(l.Addr().String())
	}
	return ports[0], ports[1]
}

// A server that is restarted at the same URL between two prompts has forgotten the
// conversation: the user is told once. If it dies during a prompt, the user reads that
// the bridge waits for it, and then that it has ended.
func TestGeminiRestarted(t *testing.T) {
	gemini(t) // it is installed, or the test is skipped
	t.Parallel()
	port, model := freePorts(t)
	run := t.TempDir()
	begin := func() (url string, end func()) { return startGemini(t, run, port, model) }
	url, end := begin()
	e := open(t, "--agent", url)
	work := filepath.Join(run, "ws")
	s := e.NewSession(work)
	const forgotten = "The agent begins another conversation"
	if o := e.Prompt(s, script("hello", work)).End("end_turn"); strings.Contains(o.Text, forgotten) {
		t.Errorf("nothing was forgotten: %q", o.Text)
	}
	end()
	_, end = begin()
	if o := e.Prompt(s, script("hello", work)).End("end_turn"); strings.Count(o.Text, forgotten) != 1 {
		t.Errorf("the server was restarted, and the user reads %q", o.Text)
	}
	if o := e.Prompt(s, script("hello", work)).End("end_turn"); strings.Contains(o.Text, forgotten) {
		t.Errorf("it is said again: %q", o.Text)
	}
	turn := e.Prompt(s, script("slow", work))
	turn.WaitText("chunk")
	killed := time.Now()
	end()
	o := turn.Wait()
	if took := time.Since(killed); took < 10*time.Second || took > 14*time.Second {
		t.Errorf("the turn has ended %v after the server", took)
	}
	contains(t, "the text", o.Text, "does not accept connections")
	contains(t, "the error", o.Details, "it has ended: for 10s nobody has accepted a connection")
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

package companion

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/a2astdio/a2astdio/internal/mcphttp"
	"github.com/a2astdio/a2astdio/internal/pipenet"
	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

const (
	testToken = "the-token"
	testPort  = 4711
)

// A world is a companion with a network in memory, for a synctest bubble.
type world struct {
	t      *testing.T
	editor *scriptedEditor
	server *Server
	net    *pipenet.Listener
	client *http.Client
	closed atomic.Bool
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, editor: &scriptedEditor{how: map[string]string{}}, net: pipenet.Listen()}
	s := &Server{hub: newHub(w.editor, slog.New(slog.DiscardHandler))}
	s.work.Go(s.hub.publish)
	w.editor.server = s
	s.mcp = newMCPServer(s.hub, testToken, testPort, "v0")
	s.http = s.mcp.Server(s.hub.ctx, slog.New(slog.DiscardHandler))
	s.files = &files{log: s.hub.log}
	s.work.Go(func() { _ = s.http.Serve(w.net) })
	w.server = s
	transport := &http.Transport{DialContext: w.net.Dial, DisableCompression: true, MaxIdleConnsPerHost: -1}
	w.client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		must.Fail(t, s.Close(), "")
		transport.CloseIdleConnections()
	})
	return w
}

// request makes a request as a CLI does; headers are name, value, ...; an empty
// value takes the header away.
func (w *world) request(ctx context.Context, method, body string, headers ...string) *http.Request {
	w.t.Helper()
	r := must.Get(http.NewRequestWithContext(ctx, method, fmt.Sprintf("http://127.0.0.1:%d/mcp", testPort), strings.NewReader(body)))(w.t)
	r.Header.Set("Authorization", "Bearer "+testToken)
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			r.Host = headers[i+1]
		case headers[i] == "Path":
			r.URL.Path = headers[i+1]
		case headers[i+1] == "":
			r.Header.Del(headers[i])
		default:
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return r
}

// do makes a request and returns its answer: "202 " for one without a body, "no answer" where the companion ends.
func (w *world) do(method, body string, headers ...string) (answer string, header http.Header) {
	w.t.Helper()
	response, err := w.client.Do(w.request(w.t.Context(), method, body, headers...))
	if err != nil {
		return "no answer", nil
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	must.Fail(w.t, err, "", method)
	return fmt.Sprintf("%d %s", response.StatusCode, b), response.Header
}

// A testCLI is a CLI that is connected.
type testCLI struct {
	*world
	id   string
	hang context.CancelFunc // ends the stream

	mu     sync.Mutex
	events []string
	ended  chan struct{}
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"0"}}}`

// connect begins a session, and opens its stream.
func (w *world) connect() *testCLI {
	c := &testCLI{world: w}
	c.connect()
	return c
}

func (c *testCLI) connect() {
	c.t.Helper()
	_, header := c.do(http.MethodPost, initialize)
	c.id = header.Get(mcphttp.SessionHeader)
	got, _ := c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	must.True(c.t, got == "202 ", "initialized", got)
	c.listen()
}

// note keeps what has come: an answer, or a line of the stream.
func (c *testCLI) note(what string, _ http.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, what)
}

func (c *testCLI) post(body string) (string, http.Header) {
	c.t.Helper()
	return c.do(http.MethodPost, body, mcphttp.SessionHeader, c.id, mcphttp.VersionHeader, "2025-06-18")
}

// tool calls a tool and returns its result.
func (c *testCLI) tool(name, arguments string) string {
	c.t.Helper()
	got, _ := c.post(`{"jsonrpc":"2.0","id":"t","method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`)
	result, ok := strings.CutPrefix(got, `200 {"jsonrpc":"2.0","id":"t","result":`)
	must.Equal(c.t, ok, true, name, arguments, got)
	return strings.TrimSuffix(result, "}")
}

// listen opens the session's stream, and keeps what comes.
func (c *testCLI) listen() {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	c.hang = cancel
	response, err := c.client.Do(c.request(ctx, http.MethodGet, "", mcphttp.SessionHeader, c.id))
	if err != nil || response.StatusCode != http.StatusOK {
		c.t.Fatalf("the stream: %v %v", response, err)
	}
	c.ended = make(chan struct{})
	go func() { // ends with the stream
		defer close(c.ended)
		defer c.note("ended", nil)
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			if line := lines.Text(); line != "" && line != "event: message" {
				c.note(line, nil)
			}
		}
	}()
}

// heard returns what has come since the last call.
func (c *testCLI) heard() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	events := c.events
	c.events = nil
	return events
}

func quote(s string) string {
	b, err := rawjson.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestMain gives the tests discovery directories of their own.
func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "companion-")
	if err != nil {
		log.Print(err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"TMPDIR", "TMP", "TEMP", "QWEN_HOME"} {
		os.Setenv(name, dir)
	}
	return m.Run()
}

// A scriptedEditor records what it is asked, and answers as it is told.
type scriptedEditor struct {
	server *Server
	how    map[string]string // it opens a diff, and closes one

	mu      sync.Mutex
	said    []string
	started []Started
}

// answer answers a request about a diff. How:
//
//	""             it does what it is asked
//	hangs          it never answers
//	fails TEXT
//	lacks TEXT     it has no such method
//	left TEXT      that is the content of the diff that it has closed
//	accepts TEXT   the user accepts that meanwhile; "accepted TEXT": and the editor has the diff no more
func (e *scriptedEditor) answer(ctx context.Context, how, id string) (content *string, err error) {
	verb, text, _ := strings.Cut(how, " ")
	switch verb {
	case "hangs":
		<-ctx.Done()
		return nil, ctx.Err()
	case "fails":
		return nil, errors.New(text)
	case "lacks":
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: text}
	case "left":
		return &text, nil
	case "accepts", "accepted":
		if _, err = e.server.Handle(MethodDiffAccepted, json.RawMessage(`{"diffId":"`+id+`","content":`+quote(text)+`}`)); verb == "accepted" {
			err = errors.New("no such diff")
		}
	}
	return nil, err
}

func (e *scriptedEditor) Request(ctx context.Context, method string, params, result any) (err error) {
	switch p := params.(type) {
	case OpenDiff:
		e.note(method, p.DiffID, p.FilePath, quote(p.NewContent))
		_, err = e.answer(ctx, e.how["open"], p.DiffID)
		return err
	case CloseDiff:
		e.note(method, p.DiffID, p.FilePath)
		result.(*CloseDiffResult).Content, err = e.answer(ctx, e.how["close"], p.DiffID)
		return err
	}
	return fmt.Errorf("no method %s", method)
}

func (e *scriptedEditor) Notify(_ context.Context, method string, params any) error {
	e.note(method)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.started = append(e.started, params.(Started))
	return nil
}

func (e *scriptedEditor) note(words ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.said = append(e.said, strings.Join(words, " "))
}

// heard returns what the editor was asked since the last call.
func (e *scriptedEditor) heard() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	said := e.said
	e.said = nil
	return said
}

// say has the editor say something, as JSON.
func say(t *testing.T, s *Server, method, params string) {
	t.Helper()
	_, err := s.Handle(method, json.RawMessage(params))
	must.True(t, err == nil, method, params, err)
}

func wantLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	must.Equal(t, got, want, what)
}

// Package editor is an editor with a user, for tests: it starts a bridge, speaks ACP or A2A
// lines with it, and keeps what a user would see.
//
// An Editor has a goroutine for the bridge, one that reads what the bridge writes, and one for each turn and each
// answer of the user. All end with the bridge, and Close waits for them.
package editor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/transport"
)

// Kind is what an editor shows.
type Kind uint8

const (
	Text Kind = iota
	Part      // a part that is no text: its JSON
	Thought
	Call
	Question
	Gap
	Notice
	User
)

// Shown is one thing that an editor shows.
type Shown struct {
	At   time.Time
	Kind Kind
	// ID is the message's, the artifact's or the call's. Text is a text, or the call's status.
	ID, Text string
	// Content is what a call holds.
	Content string
	// Repeats: the bridge marks it as said before.
	Repeats bool
	// Options are a question's, Kinds ACP's kinds of them; Picked is the answer.
	Options, Kinds []string
	Picked         string
}

// Protocol is what an editor speaks.
type Protocol uint8

const (
	ACP Protocol = iota
	ACP2
	Lines
)

func (p Protocol) String() string { return [...]string{"ACP", "ACP 2", "A2A lines"}[p] }

// Options say how to begin.
type Options struct {
	Protocol
	Network http.RoundTripper
	URL     string
	Store   *store.Store
	// Answer picks an option of a question, and says how long the user thinks; "": none, by
	// closing the question. Without it the first option is picked at once.
	Answer func(q *Shown) (option string, after time.Duration)
	// Session, if set, is loaded in the place of a new one. Cwd is its directory; "": /.
	Session, Cwd string
	NewID        func() string
	Dialect      string // see bridge.Options
	// Serve, if set, takes the place of a bridge in this process.
	Serve func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error
	// OnLine, if set, is called with the number of the bridge's lines so far. It must not wait.
	OnLine func(n int)
}

// An Editor is a bridge with its editor, and one session.
type Editor struct {
	*conn
	pick    func(q *Shown) (option string, after time.Duration)
	turn    *Turn
	loaded  Turn
	session string
	// Of ACP 2: where a message or thought stands, what a call holds, what a terminal has shown.
	items            map[string]place
	calls, terminals map[string]string
	// context and task are what a client of A2A lines keeps.
	context, task string
	asked         map[string]gjson.Result
}

// A Turn is a prompt, and what followed it.
type Turn struct {
	Began, Ended time.Time
	Shown        []Shown
	// Stop is ACP's stop reason, or the state of the last leg; Err is the error.
	Stop, Err string
	// Done is closed at the end.
	Done      chan struct{}
	request   int
	cancelled bool
	// idle gets the state of a session of ACP 2 that was busy in this turn and is idle, once.
	busy bool
	idle chan gjson.Result
}

// Start starts a bridge and its editor.
func Start(opts *Options) (*Editor, error) {
	c := &conn{opts: opts, gone: make(chan struct{}), replies: map[int]chan gjson.Result{}}
	serve := opts.Serve
	if serve == nil {
		var err error
		if c.client, err = transport.NewClient(opts.URL, &transport.ClientOptions{RoundTripper: opts.Network}); err != nil {
			return nil, err
		}
		serve = c.bridge
	}
	in, to := io.Pipe()
	from, out := io.Pipe()
	c.to, c.from = to, from
	var ctx context.Context
	ctx, c.kill = context.WithCancel(context.Background())
	c.wg.Go(func() { // ends with its input, or with ctx
		c.err = serve(ctx, in, out)
		in.Close()
		out.Close()
		opts.Store.Wait()
	})
	e := &Editor{conn: c, pick: opts.Answer, asked: map[string]gjson.Result{}, items: map[string]place{}, calls: map[string]string{}, terminals: map[string]string{}}
	c.editor = e
	c.wg.Go(c.read) // ends with the bridge
	if opts.Protocol == Lines {
		return e, nil
	}
	hello := `{"protocolVersion":1,"clientCapabilities":{}}`
	if opts.Protocol == ACP2 {
		hello = `{"protocolVersion":2,"info":{"name":"test","version":"1"},"capabilities":{}}`
	}
	if v := e.Call("initialize", hello).Get("result.protocolVersion").Int(); v != int64(opts.Protocol)+1 {
		return e, fmt.Errorf("the bridge speaks version %d of ACP", v)
	}
	return e, e.Open(opts.Session)
}

// Open opens a session in the place of the one before: a new one, or the one to load.
func (e *Editor) Open(load string) error {
	cwd := cmp.Or(e.opts.Cwd, "/")
	if load == "" {
		m := e.Call("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, cwd))
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.session = m.Get("result.sessionId").Str; e.session == "" {
			return fmt.Errorf("no session: %s", m.Raw)
		}
		return nil
	}
	method, with := "session/load", ""
	if e.opts.Protocol == ACP2 {
		method, with = "session/resume", `,"replayFrom":{"type":"start"}`
	}
	e.mu.Lock()
	e.session, e.turn = load, &e.loaded
	e.mu.Unlock()
	m := e.Call(method, fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]%s}`, load, cwd, with))
	if !m.Get("result").Exists() {
		return fmt.Errorf("%s: %s", method, m.Raw)
	}
	return nil
}

// Session is ACP's ID of the session.
func (e *Editor) Session() string { return e.session }

// Loaded is what the loading of the session has shown, and what came before the next prompt.
func (e *Editor) Loaded() []Shown {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.loaded.Shown
}

// betweenTurns are the updates of ACP that need no prompt.
var betweenTurns = []string{"available_commands_update", "session_info_update", "current_mode_update"}

// problem says why no editor of ACP should get a line, "" if it may. The lock is held.
func (e *Editor) problem(m gjson.Result) string {
	method := m.Get("method").Str
	asks := method == "session/request_permission"
	switch {
	case !gjson.Valid(m.Raw) || m.Get("jsonrpc").Str != "2.0":
		return "a line that is no JSON-RPC"
	case method == "" && e.replies[int(m.Get("id").Int())] == nil:
		return "a reply to nothing, or a second one"
	case method == "" || slices.Contains(betweenTurns, m.Get("params.update.sessionUpdate").Str):
	case method != "session/update" && !asks:
		return "a method that was not offered"
	case e.session != m.Get("params.sessionId").Str:
		return "a session that was not opened"
	case e.turn == nil || !e.turn.Ended.IsZero():
		return "it comes while nothing runs"
	}
	return ""
}

// show keeps what is shown. The lock is held.
func (e *Editor) show(s *Shown) *Shown {
	s.At = time.Now()
	if e.turn == nil {
		return s
	}
	e.turn.Shown = append(e.turn.Shown, *s)
	return &e.turn.Shown[len(e.turn.Shown)-1]
}

// Prompt begins a turn.
func (e *Editor) Prompt(text string) *Turn {
	t := &Turn{Began: time.Now(), Done: make(chan struct{}), idle: make(chan gjson.Result, 1)}
	e.mu.Lock()
	e.turn = t
	e.mu.Unlock()
	run := e.promptACP
	if e.opts.Protocol == Lines {
		run = e.promptLines
	}
	ready := make(chan struct{})
	e.wg.Go(func() { // ends with the turn, or with the bridge
		run(t, text, ready)
		e.mu.Lock()
		t.Ended = time.Now()
		e.mu.Unlock()
		close(t.Done)
	})
	<-ready
	return t
}

// Cancel cancels a turn.
func (e *Editor) Cancel(t *Turn) {
	e.mu.Lock()
	t.cancelled = true
	id := t.request
	e.mu.Unlock()
	if e.opts.Protocol == Lines {
		e.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}`, id)
		return
	}
	e.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, e.session)
}

// quote is a JSON string.
func quote(s string) string {
	b, _ := json.Marshal(s) // a string has no error
	return string(b)
}

// answer lets the user answer a question, or not.
func (e *Editor) answer(q *Shown) (string, time.Duration) {
	if e.pick != nil {
		return e.pick(q)
	}
	return q.Options[0], 0
}

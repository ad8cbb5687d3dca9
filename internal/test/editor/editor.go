// Package editor is an editor with a user, for tests: it starts a bridge, speaks ACP or A2A
// lines with it, and keeps what a user would see.
package editor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
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
	State // A2A lines only
)

// Shown is one thing that an editor shows.
type Shown struct {
	At   time.Time
	Kind Kind
	// ID is the message's, the artifact's or the call's. Text is a text, the call's status or
	// the state.
	ID, Text string
	// Content is what a call holds.
	Content string
	// Repeats: the bridge marks it as said before. Anew: it begins or replaces an artifact.
	Repeats, Anew bool
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
	Idle    time.Duration
	Store   *store.Store
	// Answer picks an option of a question, and says how long the user thinks; "": none, by
	// closing the question. Without it the first option is picked at once.
	Answer func(q *Shown) (option string, after time.Duration)
	// Session, if set, is loaded in the place of a new one.
	Session string
	NewID   func() string
}

// An Editor is a bridge with its editor, and one session.
type Editor struct {
	opts   *Options
	client *transport.Client
	to     *io.PipeWriter
	from   *io.PipeReader
	kill   context.CancelFunc
	gone   chan struct{} // closed when the bridge has ended, and all that it wrote was read
	err    error         // of its end
	wg     sync.WaitGroup

	mu      sync.Mutex
	nextID  int
	replies map[int]chan gjson.Result
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
	// Results are the texts of the legs' results of A2A lines.
	Results []string
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
	e := &Editor{opts: opts, gone: make(chan struct{}), replies: map[int]chan gjson.Result{}, asked: map[string]gjson.Result{}, items: map[string]place{}, calls: map[string]string{}, terminals: map[string]string{}}
	var err error
	if e.client, err = transport.NewClient(opts.URL, &transport.ClientOptions{RoundTripper: opts.Network}); err != nil {
		return nil, err
	}
	b := &bridge.Options{Version: "test", Name: opts.URL, Workspace: "/", IdleTimeout: opts.Idle, Client: e.client, Store: opts.Store,
		Protocol: bridge.ProtocolACP, OnEOF: bridge.OnEOFCancel, NewID: opts.NewID}
	if opts.Protocol == Lines {
		b.Protocol = bridge.ProtocolA2A
	}
	in, to := io.Pipe()
	from, out := io.Pipe()
	e.to, e.from = to, from
	var ctx context.Context
	ctx, e.kill = context.WithCancel(context.Background())
	e.wg.Go(func() { // ends with its input, or with ctx
		e.err = bridge.Serve(ctx, in, out, b)
		out.Close()
		opts.Store.Wait()
	})
	e.wg.Go(e.read) // ends with the bridge
	if opts.Protocol == Lines {
		return e, nil
	}
	hello, load, with := `{"protocolVersion":1,"clientCapabilities":{}}`, "session/load", ""
	if opts.Protocol == ACP2 {
		hello, load, with = `{"protocolVersion":2,"info":{"name":"test","version":"1"},"capabilities":{}}`, "session/resume", `,"replayFrom":{"type":"start"}`
	}
	if v := e.call("initialize", hello).Get("result.protocolVersion").Int(); v != int64(opts.Protocol)+1 {
		return e, fmt.Errorf("the bridge speaks version %d of ACP", v)
	}
	if opts.Session != "" {
		e.mu.Lock()
		e.session, e.turn = opts.Session, &e.loaded
		e.mu.Unlock()
		m := e.call(load, fmt.Sprintf(`{"sessionId":%q,"cwd":"/","mcpServers":[]%s}`, opts.Session, with))
		e.loaded.Err = m.Get("error.message").Str
		return e, nil
	}
	session := e.call("session/new", `{"cwd":"/","mcpServers":[]}`).Get("result.sessionId").Str
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.session = session; session == "" {
		return e, errors.New("no session")
	}
	return e, nil
}

// Session is ACP's ID of the session. Loaded is what its loading showed, and what came
// before the next prompt.
func (e *Editor) Session() string { return e.session }

// Loaded is what the loading of the session has shown.
func (e *Editor) Loaded() []Shown {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.loaded.Shown
}

// Close ends the input, as an editor that ends, and waits for the bridge.
func (e *Editor) Close() error {
	e.to.Close()
	<-e.gone
	e.from.Close()
	e.client.Close()
	e.wg.Wait()
	return e.err
}

// Terminate ends the bridge as a signal does. Close has to follow.
func (e *Editor) Terminate() { e.kill() }

// read takes lines until the bridge ends.
func (e *Editor) read() {
	defer close(e.gone)
	for r := bufio.NewReader(e.from); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		e.take(gjson.Parse(line))
	}
}

func (e *Editor) take(m gjson.Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch method := m.Get("method").Str; method {
	case "":
		id := int(m.Get("id").Int())
		if c := e.replies[id]; c != nil {
			delete(e.replies, id)
			c <- m
		}
	case "session/update":
		if e.opts.Protocol == ACP2 {
			e.update2(m.Get("params.update"))
			return
		}
		e.update(m.Get("params.update"))
	case "session/request_permission":
		e.permission(m)
	default:
		e.event(method, m.Get("params"))
	}
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

// send writes a line.
func (e *Editor) send(format string, args ...any) {
	_, _ = io.WriteString(e.to, fmt.Sprintf(format, args...)+"\n") // fails when the bridge has ended
}

// request sends a request; its reply comes on the channel.
func (e *Editor) request(method, params string) (int, <-chan gjson.Result) {
	e.mu.Lock()
	e.nextID++
	id, c := e.nextID, make(chan gjson.Result, 1)
	e.replies[id] = c
	e.mu.Unlock()
	e.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
	return id, c
}

// call waits for the reply, for a minute.
func (e *Editor) call(method, params string) gjson.Result {
	_, reply := e.request(method, params)
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	select {
	case m := <-reply:
		return m
	case <-timer.C:
		return gjson.Result{}
	}
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

// wait waits for a reply; false: the bridge has ended.
func (e *Editor) wait(reply <-chan gjson.Result) (gjson.Result, bool) {
	select {
	case m := <-reply:
		return m, true
	case <-e.gone:
	}
	select { // it may have come before the end
	case m := <-reply:
		return m, true
	default:
		return gjson.Result{}, false
	}
}

// quote is a JSON string.
func quote(s string) string {
	b, _ := json.Marshal(s) // a string has no error
	return string(b)
}

// answer lets the user answer a question, or not.
func (e *Editor) answer(q *Shown) (string, time.Duration) {
	if e.opts.Answer != nil {
		return e.opts.Answer(q)
	}
	return q.Options[0], 0
}

package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/stdio"
)

// maxSessions is how many sessions one editor may have open: far more than
// anybody has, and few enough that an editor that leaks them hears of it.
const maxSessions = 1024

// A server is the bridge's end of an editor's connection: what both editor
// protocols need. Requests are taken in the order in which they arrive, in the
// connection's read loop, which never waits; whatever may take time goes on in a
// goroutine, after its place in the order is taken.
type server struct {
	agent *Agent
	// opts are those of the start: an agent that is set up later brings others, for which the read
	// loop does not wait.
	opts  *Options
	setup setup
	out   *stdio.Conn
	conn  *jsonrpc2.Conn // on out
	acp   *acpEditor
	lines *linesEditor
	mcp   *mcpEditor
	ide   *ide
	// handle takes messages in the editor's protocol; nil until that is known.
	// The read loop sets it; isLines tells others.
	handle    func(*editorRequest)
	isLines   atomic.Bool
	callCount atomic.Uint64 // our own requests to the editor

	// ctx is for the work; stop ends it. Each piece of work is counted.
	ctx  context.Context
	stop context.CancelFunc
	// answering ends when the work is finished behind the end of input: the editor answers
	// nothing then.
	answering     context.Context
	stopAnswering context.CancelFunc

	mu       sync.Mutex
	closing  bool
	work     sync.WaitGroup
	sessions map[string]*Session
	// prompts are the turns of the requests that are not answered, for $/cancel_request. An ID
	// may have several: some programs give all their requests the same.
	prompts   map[*turn]stdio.ID
	dismissed map[string]*dismissed // sessions that were closed, while something of them runs
}

func newServer(agent *Agent, out *stdio.Conn) *server {
	opts := agent.opts
	s := &server{agent: agent, opts: &opts, out: out, sessions: map[string]*Session{}, prompts: map[*turn]stdio.ID{},
		dismissed: map[string]*dismissed{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.answering, s.stopAnswering = context.WithCancel(context.Background())
	s.setup.done.Store(agent.opts.Client != nil || agent.opts.Setup == nil)
	s.acp = newACPEditor(s)
	s.lines = newLinesEditor(s)
	s.mcp = &mcpEditor{server: s, openingAgent: make(chan struct{}, 1)}
	s.ide = &ide{server: s}
	switch agent.opts.Protocol {
	case ProtocolACP:
		s.handle = s.acp.handle
	case ProtocolA2A:
		s.speakLines()
	case ProtocolMCP:
		s.handle = s.mcp.handle
	}
	return s
}

func (s *server) speakLines() {
	s.handle = s.lines.handle
	s.isLines.Store(true)
}

// attach has take called for the editor's messages. It is an option of the connection, which begins
// to read when it is made.
func (s *server) attach(conn *jsonrpc2.Conn) {
	s.conn = conn
	s.out.Handle(s.take)
}

// take takes a message from the editor. It is called by the read loop alone.
func (s *server) take(id stdio.ID, method string, params json.RawMessage) {
	c := &editorRequest{server: s, id: id, method: method, isNotification: id == "", raw: params}
	if params == nil {
		c.raw = json.RawMessage("{}")
	}
	if s.handle == nil {
		s.decide(c)
	}
	if s.handle != nil {
		s.handle(c)
	}
}

// decide sets handle by the first request, which tells the editor's protocol. A request of
// no protocol is answered with an error, and decides nothing.
func (s *server) decide(c *editorRequest) {
	switch {
	case speaksMCP(c):
		s.handle = s.mcp.handle
	case c.method == acp.MethodInitialize:
		if gjson.GetBytes(c.raw, "protocolVersion").Type != gjson.Number {
			c.fail(acp.CodeInvalidParams, "editor: initialize: protocolVersion must be a number (ACP) or a date (MCP)", "")
			return
		}
		s.handle = s.acp.handle
	case s.lines.speaks(c.method):
		s.speakLines()
		s.ide.open(s.opts.workspace())
	case s.acp.methods[c.method] != nil:
		s.acp.handle(c) // which says that initialize comes first
	default:
		c.fail(acp.CodeMethodNotFound, "editor: "+c.method+" is no method of ACP, MCP or A2A: begin with initialize, "+
			"or with A2A's message/stream; --protocol a2a passes any method on to the agent", "")
	}
}

// spawn runs work in a goroutine; false: it does not, since the bridge is closing.
func (s *server) spawn(work func(ctx context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.work.Go(func() { // ended by shutdown
		deepen()
		work(s.ctx)
	})
	return true
}

// runTurn is spawn for the work of a turn, which is given up if the bridge is closing.
func (s *server) runTurn(turn Turn, work func(ctx context.Context)) {
	if !s.spawn(work) {
		turn.Discard()
	}
}

// finish waits, behind the end of input, until the work under way is done, the editor is gone, or
// ctx ends. Requests to the editor fail from then on.
func (s *server) finish(ctx context.Context, gone <-chan struct{}) {
	s.stopAnswering()
	ctx, end := context.WithCancel(ctx)
	go func() { // ends with the work, which shutdown ends
		s.work.Wait()
		end()
	}()
	select {
	case <-gone:
	case <-ctx.Done():
	}
}

// shutdown cancels the work under way, and waits until it has ended.
func (s *server) shutdown() {
	s.ide.close()
	s.mu.Lock()
	s.closing = true
	for _, session := range s.sessions {
		session.unwatch()
		session.Cancel()
	}
	for t := range s.prompts {
		t.session.Cancel() // the line protocol has no list of sessions
	}
	s.mu.Unlock()
	s.mcp.detachAll()
	late := time.AfterFunc(cancelWait, s.stop)
	s.work.Wait()
	late.Stop()
	s.stop()
	s.mcp.detachAll() // no call waits any more: see there
	s.mu.Lock()       // a signal does not stop the read loop
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		_ = session.journal.Close() // it has been written
		session.endTools()
	}
}

// An editorRequest is a message of the editor's, to be answered unless it is a
// notification.
type editorRequest struct {
	server         *server
	id             stdio.ID
	isNotification bool
	method         string
	raw            json.RawMessage // the params, {} if there are none
}

// decode reads the params, and answers with an error if they are wrong.
func (c *editorRequest) decode(params any) bool {
	if !gjson.ParseBytes(c.raw).IsObject() {
		c.fail(acp.CodeInvalidParams, "editor: "+c.method+": params must be an object", "")
		return false
	}
	if err := json.Unmarshal(c.raw, params); err != nil {
		text := err.Error()
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			text = fmt.Sprintf("%s must not be a JSON %s", wrong.Field, wrong.Value)
		}
		c.fail(acp.CodeInvalidParams, "editor: "+c.method+": "+text, "")
		return false
	}
	return true
}

// decoded is a method that gets its params.
func decoded[P any](method func(*editorRequest, *P)) func(*editorRequest) {
	return func(c *editorRequest) {
		if p := new(P); c.decode(p) {
			method(c, p)
		}
	}
}

// replyOrFail answers with a result or, if err is not nil, with that, as an error of ours.
func (c *editorRequest) replyOrFail(result any, err error) {
	if err != nil {
		c.fail(acp.CodeInternal, err.Error(), err.Error())
		return
	}
	c.reply(result)
}

// reply answers with a result; a notification has no answer.
func (c *editorRequest) reply(result any) {
	if c.isNotification {
		return
	}
	if err := c.server.out.Reply(c.id, result); err != nil {
		c.server.opts.Log.Debug("replying", "method", c.method, "err", err)
	}
}

// fail answers with an error. details, if not "", go where editors look for them.
func (c *editorRequest) fail(code int, message, details string) {
	e := &jsonrpc2.Error{Code: int64(code), Message: message}
	if details != "" {
		e.SetError(map[string]string{"details": c.server.mask(details)})
	}
	c.failWith(e)
}

// failWith answers with an error, whose data the caller has masked.
func (c *editorRequest) failWith(e *jsonrpc2.Error) {
	if c.isNotification {
		return
	}
	e.Message = c.server.mask(e.Message)
	if err := c.server.out.Fail(c.id, e); err != nil {
		c.server.opts.Log.Debug("replying", "method", c.method, "err", err)
	}
}

// run begins the turn that a request asks for, and has work do it, in a goroutine: work
// answers, and releases the turn. If there can be no turn, run answers with an error.
func (c *editorRequest) run(session *Session, work func(ctx context.Context, turn Turn)) {
	if c.isNotification {
		return // a notification gets no result
	}
	turn, err := session.Begin()
	if err != nil {
		text := busyText
		if session.queues {
			text = fmt.Sprintf("editor: %d prompts of this session wait already: cancel them by session/cancel, or wait", maxHeld)
		}
		c.fail(acp.CodeInvalidRequest, text, "")
		return
	}
	turn.trace = traceOf(c.raw)
	c.server.mu.Lock()
	c.server.prompts[turn.turn] = c.id
	c.server.mu.Unlock()
	c.server.runTurn(turn, func(ctx context.Context) {
		defer c.server.endPrompt(turn)
		work(ctx, turn)
	})
}

// add opens a session; false: there are too many.
func (s *server) add(session *Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) >= maxSessions {
		return false
	}
	s.sessions[session.ID] = session
	return true
}

// endPrompt notes that the request of a turn is answered: $/cancel_request reaches it no more.
func (s *server) endPrompt(turn Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.prompts, turn.turn)
}

// cancelPrompts cancels the turns of the requests that have this ID.
func (s *server) cancelPrompts(id stdio.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t, of := range s.prompts {
		switch {
		case of != id:
		case t.session.queues:
			t.cancel() // of the others each has a request
		default:
			t.session.Cancel()
		}
	}
}

// errSilent is the answer of an editor that answers nothing any more.
var errSilent = &jsonrpc2.Error{Code: acp.CodeInternal, Message: "its input has ended, so that nobody answers"}

// call sends the editor a request, and decodes its result into answer. The editor's own error is a
// [*jsonrpc2.Error]. If ctx ends first, its error is returned, and withdraw, if it is not nil, is
// called with the request's ID.
func (s *server) call(ctx context.Context, method string, params, answer any, withdraw func(id json.RawMessage)) error {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(s.answering, stop)()
	id := jsonrpc2.ID{Num: s.callCount.Add(1)} // from 1: some peers read a null ID as 0
	err := s.conn.Call(waiting, method, params, answer, jsonrpc2.PickID(id))
	switch {
	case ctx.Err() != nil:
		if withdraw != nil {
			withdraw(json.RawMessage(id.String()))
		}
		return ctx.Err()
	case err != nil && waiting.Err() != nil:
		return errSilent
	}
	return err
}

// taskCancelled tells the running turns that the agent has cancelled a task at the editor's
// request.
func (s *server) taskCancelled(task string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.prompts {
		t.cancelledBy(task)
	}
}

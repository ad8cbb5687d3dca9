package bridge

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/mcp"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/stdio"
)

// An MCP client is a model's: it calls tools, and a call is answered within
// [Options.AnswerWithin], whatever the task does. So each conversation (mcpTalk) has a turn that
// no request waits for, and a call waits for what comes of it. The turn goes on when a call has
// been answered with the conversation's handle, and the next call takes what it has brought
// meanwhile. A cancel, the end of input or a signal ends a task only while a call waits for it.

// Agents are those that an MCP client may choose from. Names may be called from several
// goroutines, also while Open runs.
type Agents interface {
	// Names lists them, at least one, and the one first that is asked where none is named. An error tells the
	// user what is wrong with the set-up.
	Names() ([]string, error)
	// Open returns the options of one of them, with a Client. It is asked for one at a time, and
	// again after an error.
	Open(ctx context.Context, name string) (*Options, error)
}

// DefaultAnswerWithin is [Options.AnswerWithin] where that is 0. It is below the limits of all clients that are known; the shortest is 60 s.
const DefaultAnswerWithin = 45 * time.Second

// codeVersion is MCP's error for a version that is not spoken.
const codeVersion = -32022

// mcpEditor is a client that speaks the Model Context Protocol.
type mcpEditor struct {
	server  *server
	methods map[string]func(*mcpCall)
	can     abilities // what initialize has said; the read loop writes it

	key       []byte        // signs states
	questions atomic.Uint64 // how many were asked, for their names

	mu      sync.Mutex
	closing bool
	calls   map[jsonrpc2.ID]*mcpCall
	talks   map[string]*mcpTalk // by handle
	agents  map[string]*Agent   // by name
	opening sync.Mutex          // for making one

	turns sync.WaitGroup // those of talks
}

func newMCPEditor(s *server) *mcpEditor {
	e := &mcpEditor{server: s, calls: map[jsonrpc2.ID]*mcpCall{}, talks: map[string]*mcpTalk{}, agents: map[string]*Agent{},
		key: make([]byte, sha256.Size)}
	_, _ = rand.Read(e.key) // never fails
	e.methods = map[string]func(*mcpCall){
		acp.MethodInitialize: e.initialize,
		"server/discover":    e.discover,
		"ping":               func(c *mcpCall) { c.reply(struct{}{}) },
		"tools/list":         func(c *mcpCall) { c.introduce(map[string]any{"tools": json.RawMessage(spell.MCPTools)}) },
		"tools/call":         e.callTool,
	}
	return e
}

// speaks reports whether a request tells that the client speaks MCP.
func (e *mcpEditor) speaks(c *editorRequest) bool {
	if c.Method == acp.MethodInitialize && c.Params != nil {
		_, err := time.Parse(time.DateOnly, gjson.GetBytes(*c.Params, "protocolVersion").Str)
		return err == nil // ACP's versions are numbers
	}
	return e.methods[c.Method] != nil
}

// An mcpCall is a request of a client's.
type mcpCall struct {
	*editorRequest
	params gjson.Result
	// stateless: it stands for itself (2026-07-28). can is what its client can do.
	stateless bool
	can       abilities
	// ctx ends with a cancel, whose reason is its cause, with the call's time, or with the bridge.
	ctx      context.Context
	cancel   context.CancelCauseFunc
	progress int      // how many notifications it has had
	talk     *mcpTalk // that it waits for
}

// mcpCancelled is the cause of a call's end that its client has cancelled. isLimit: that is no
// wish of a person's, but a limit of time that is shorter than ours.
type mcpCancelled struct{ isLimit bool }

func (*mcpCancelled) Error() string { return "editor: the call was cancelled" }

const mcpMeta = `_meta.io\.modelcontextprotocol/`

// handle takes a message. What is to be done in the order of the messages is done in here.
func (e *mcpEditor) handle(r *editorRequest) {
	c := &mcpCall{editorRequest: r, can: e.can}
	if r.Params != nil {
		c.params = gjson.ParseBytes(*r.Params)
	}
	if r.Notif {
		if r.Method == "notifications/cancelled" {
			e.cancelled(c)
		}
		return
	}
	version := c.params.Get(mcpMeta + "protocolVersion")
	if c.stateless = version.Exists(); c.stateless {
		c.can = mcpAbilities(c.params.Get(mcpMeta + "clientCapabilities"))
	}
	method := e.methods[r.Method]
	switch {
	case c.stateless && version.Str != spell.MCPStateless:
		err := &jsonrpc2.Error{Code: codeVersion, Message: "editor: MCP " + version.String() + " is not spoken here"}
		err.SetError(map[string]any{"supported": mcpVersions(), "requested": version.String()})
		c.failWith(err)
	case method == nil:
		c.fail(acp.CodeMethodNotFound, "editor: a2astdio has tools, and no "+r.Method, "")
	case r.Params != nil && !c.params.IsObject():
		c.fail(acp.CodeInvalidParams, "editor: "+r.Method+": params must be an object", "")
	default:
		method(c)
	}
}

func mcpVersions() []string { return append([]string{spell.MCPStateless}, spell.MCPVersions()...) }

// mcpAbilities are what a client has declared; what counts is that, and not its version.
// elicitation:{} means forms.
func mcpAbilities(capabilities gjson.Result) abilities {
	o := capabilities.Get("elicitation")
	form, url := o.Get("form"), o.Get("url")
	return abilities{form: o.IsObject() && (form.IsObject() || !form.Exists() && !url.Exists()), url: url.IsObject()}
}

// introduce answers with what the server is, and what is always the same. A client that keeps
// nothing of a request for the next is told for how long that holds.
func (c *mcpCall) introduce(result map[string]any) {
	if c.stateless {
		result["resultType"], result["ttlMs"], result["cacheScope"] = "complete", time.Hour.Milliseconds(), "private"
	}
	c.reply(result)
}

func (e *mcpEditor) self() (info mcp.Implementation, capabilities any) {
	return mcp.Implementation{Name: "a2astdio", Title: "A2A agents", Version: e.server.agent.opts.Version}, map[string]any{"tools": struct{}{}}
}

// initialize agrees on the version of a client: its own, or our newest.
func (e *mcpEditor) initialize(c *mcpCall) {
	version, versions := c.params.Get("protocolVersion").Str, spell.MCPVersions()
	if !slices.Contains(versions, version) {
		version = versions[0]
	}
	e.can = mcpAbilities(c.params.Get("capabilities"))
	e.can.defaults = version >= "2025-11-25"
	info, capabilities := e.self()
	c.reply(map[string]any{"protocolVersion": version, "capabilities": capabilities, "serverInfo": info, "instructions": spell.MCPInstructions})
}

// discover is what initialize is for a client that speaks 2026-07-28.
func (e *mcpEditor) discover(c *mcpCall) {
	c.stateless = true
	info, capabilities := e.self()
	c.introduce(map[string]any{"supportedVersions": mcpVersions(), "capabilities": capabilities, "instructions": spell.MCPInstructions,
		"_meta": map[string]any{"io.modelcontextprotocol/serverInfo": info}})
}

// callTool begins a tool. A cancel that follows finds it.
func (e *mcpEditor) callTool(c *mcpCall) {
	tool := map[string]func(*mcpCall){
		spell.MCPSend: e.sendMessage, spell.MCPWait: e.waitTask, spell.MCPCancel: e.cancelTask,
		spell.MCPArtifact: e.readArtifact, spell.MCPAgents: e.listAgents,
	}[c.params.Get("name").Str]
	if tool == nil {
		c.fail(acp.CodeInvalidParams, "editor: there is no tool "+c.params.Get("name").String(), "")
		return
	}
	if c.isAnswer() {
		tool = e.answered
	}
	ctx, stop := context.WithTimeout(e.server.ctx, cmp.Or(e.server.agent.opts.AnswerWithin, DefaultAnswerWithin))
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	e.mu.Lock()
	e.calls[c.ID] = c
	e.mu.Unlock()
	running := e.server.spawn(func(context.Context) {
		defer stop()
		tool(c)
	})
	if !running {
		stop()
	}
}

// cancelled is a client's cancel. Some cancel what was answered, and some twice.
func (e *mcpEditor) cancelled(c *mcpCall) {
	id, ok := stdio.ParseID(c.params.Get("requestId").Raw)
	if !ok {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if call := e.calls[jsonrpc2.ID(id)]; call != nil {
		reason := strings.ToLower(c.params.Get("reason").String())
		call.cancel(&mcpCancelled{isLimit: strings.Contains(reason, "timed out") || strings.Contains(reason, "-32001")})
	}
}

// isCancelled reports whether the client has cancelled a call; it gets no answer then.
func (c *mcpCall) isCancelled() (*mcpCancelled, bool) {
	cause, ok := context.Cause(c.ctx).(*mcpCancelled)
	return cause, ok
}

// settle takes a call off the list of those that can be cancelled. false: the client has
// cancelled it, and gets no answer.
func (c *mcpCall) settle() bool {
	if c.talk != nil {
		c.talk.release()
	}
	e := c.server.mcp
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.calls[c.ID] == c {
		delete(e.calls, c.ID)
	}
	if _, ok := c.isCancelled(); ok {
		c.server.out.Unanswered()
		return false
	}
	return true
}

// say answers with words, for the model to read.
func (c *mcpCall) say(isError bool, text string) {
	if c.settle() {
		c.answer(isError, text, nil)
	}
}

// answer answers a call that is settled with words, and with content that is no text.
func (c *mcpCall) answer(isError bool, text string, content []json.RawMessage) {
	blocks := []any{map[string]string{"type": "text", "text": text}}
	for _, block := range content {
		blocks = append(blocks, block)
	}
	result := map[string]any{"content": blocks}
	if isError {
		result["isError"] = true
	}
	if c.stateless {
		result["resultType"] = "complete"
	}
	c.reply(result)
}

// fault answers with what is wrong, for the model and its user.
func (c *mcpCall) fault(agent *Agent, err error) { c.say(true, agent.lineOf(err)) }

// lineOf is an error in a line: an agent's words in it cannot pose as lines of ours.
func (a *Agent) lineOf(err error) string {
	return ask.Visible(strings.Join(strings.Fields(a.opts.Mask(err.Error())), " "))
}

// tell tells a client that has asked for it how far a call is.
func (c *mcpCall) tell(text string) {
	token := c.params.Get("_meta.progressToken")
	if token.Type != gjson.String && token.Type != gjson.Number {
		return
	}
	c.progress++
	progress := map[string]any{"progressToken": json.RawMessage(token.Raw), "progress": c.progress}
	if text != "" {
		progress["message"] = text
	}
	_ = c.conn.Notify(context.Background(), "notifications/progress", progress) // a client that is gone is seen elsewhere
}

// argument is a string of a tool's arguments; "": there is none.
func (c *mcpCall) argument(name string) string {
	if v := c.params.Get("arguments." + name); v.Type == gjson.String {
		return v.Str
	}
	return ""
}

// agentOf returns an agent by its name, which is contacted when it is used. "" is the first.
func (e *mcpEditor) agentOf(ctx context.Context, name string) (*Agent, string, error) {
	names, err := e.names()
	if err != nil {
		return nil, "", err
	}
	if name == "" {
		name = names[0]
	}
	if !slices.Contains(names, name) {
		return nil, "", paramsErrorf("there is no agent %q: there are %s", name, strings.Join(names, ", "))
	}
	e.opening.Lock()
	defer e.opening.Unlock()
	if agent := e.agents[name]; agent != nil {
		return agent, name, nil
	}
	agent := e.server.agent
	if agents := agent.opts.Agents; agents != nil {
		opts, err := agents.Open(ctx, name)
		if err != nil {
			return nil, "", err
		}
		agent = NewAgent(opts)
	} else if err := e.server.findAgent(ctx); err != nil {
		return nil, "", err
	}
	e.agents[name] = agent
	return agent, name, nil
}

// onlyAgent is what the agent is called where there are no others.
const onlyAgent = "agent"

func (e *mcpEditor) names() ([]string, error) {
	if agents := e.server.agent.opts.Agents; agents != nil {
		return agents.Names()
	}
	return []string{onlyAgent}, nil
}

// leave ends what a call waits for, and leaves the other tasks to their agents: the next
// process finds them.
func (e *mcpEditor) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closing = true
	for _, t := range e.talks {
		t.leave()
	}
}

// close releases the agents that were opened. No turn may be running.
func (e *mcpEditor) close() {
	for _, t := range e.talks {
		_ = t.session.journal.Close() // it has been written
	}
	for _, agent := range e.agents {
		if agent != e.server.agent {
			agent.Close()
		}
	}
}

package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
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

// mcpMeta is how the members begin that a request of 2026-07-28 has of its own.
const mcpMeta = `_meta.io\.modelcontextprotocol/`

// mcpEditor is a client that speaks the Model Context Protocol.
type mcpEditor struct {
	server *server
	tools  map[string]func(*mcpCall) (mcpOutcome, error)
	can    abilities // what initialize has said; the read loop writes it

	mu      sync.Mutex
	calls   map[jsonrpc2.ID]*mcpCall
	talks   map[string]*mcpTalk // by handle
	agents  map[string]*Agent   // by name
	opening sync.Mutex          // for making an agent, or restoring a conversation
}

func newMCPEditor(s *server) *mcpEditor {
	e := &mcpEditor{server: s, calls: map[jsonrpc2.ID]*mcpCall{}, talks: map[string]*mcpTalk{}, agents: map[string]*Agent{}}
	e.tools = map[string]func(*mcpCall) (mcpOutcome, error){
		spell.MCPSend: e.sendMessage, spell.MCPWait: e.waitTask, spell.MCPCancel: e.cancelTask,
		spell.MCPArtifact: e.readArtifact, spell.MCPAgents: e.listAgents,
	}
	return e
}

// speaksMCP reports whether a request tells that the client speaks MCP: its version is a date,
// and ACP's a number.
func speaksMCP(c *editorRequest) bool {
	if c.Params == nil {
		return false
	}
	params := gjson.ParseBytes(*c.Params)
	_, err := time.Parse(time.DateOnly, cmp.Or(params.Get(mcpMeta+"protocolVersion").Str, params.Get("protocolVersion").Str))
	return err == nil
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
	agent    *Agent   // that it is about, whose secrets an error may have
	talk     *mcpTalk // that it waits for
}

// An mcpOutcome makes a call's result. It is called only if the client still wants one: what it
// takes from a conversation is given once.
type mcpOutcome func() *mcp.CallResult

// say is the outcome of a call that is answered with words.
func say(text string) mcpOutcome {
	return func() *mcp.CallResult { return mcp.Text(text) }
}

// handle takes a message. What is to be done in the order of the messages is done in here.
func (e *mcpEditor) handle(r *editorRequest) {
	c := &mcpCall{editorRequest: r, can: e.can, agent: e.server.agent}
	if r.Params != nil {
		c.params = gjson.ParseBytes(*r.Params)
	}
	version := c.params.Get(mcpMeta + "protocolVersion")
	if c.stateless = version.Exists(); c.stateless {
		c.can = mcpAbilities(c.params.Get(mcpMeta + "clientCapabilities"))
	}
	switch {
	case r.Method == "notifications/cancelled":
		e.cancelled(c)
	case r.Notif:
	case c.stateless && version.Str != spell.MCPStateless:
		err := &jsonrpc2.Error{Code: codeVersion, Message: "editor: MCP " + version.String() + " is not spoken here"}
		err.SetError(map[string]any{"supported": spell.MCPVersions(), "requested": version.String()})
		c.failWith(err)
	case r.Params != nil && !c.params.IsObject():
		c.fail(acp.CodeInvalidParams, "editor: "+r.Method+": params must be an object", "")
	case r.Method == acp.MethodInitialize || r.Method == "server/discover":
		e.introduce(c)
	case r.Method == "ping":
		c.reply(struct{}{})
	case r.Method == "tools/list":
		c.replyLasting(map[string]any{"tools": json.RawMessage(spell.MCPTools)})
	case r.Method == "tools/call":
		e.callTool(c)
	default:
		c.fail(acp.CodeMethodNotFound, "editor: a2astdio has tools, and no "+r.Method, "")
	}
}

// mcpAbilities are what a client has declared; what counts is that, and not its version.
// elicitation:{} means forms.
func mcpAbilities(capabilities gjson.Result) abilities {
	o := capabilities.Get("elicitation")
	form, url := o.Get("form"), o.Get("url")
	return abilities{form: o.IsObject() && (form.IsObject() || !form.Exists() && !url.Exists()), url: url.IsObject()}
}

// introduce answers initialize, with the version that the client is to speak: its own, or our
// newest that begins so; and server/discover, which is in its place since 2026-07-28.
func (e *mcpEditor) introduce(c *mcpCall) {
	versions := spell.MCPVersions()
	self := mcp.Implementation{Name: "a2astdio", Title: "A2A agents", Version: e.server.agent.opts.Version}
	about := map[string]any{"capabilities": map[string]any{"tools": struct{}{}}, "instructions": spell.MCPInstructions}
	if c.Method != acp.MethodInitialize {
		c.stateless = true
		about["supportedVersions"], about["_meta"] = versions, map[string]any{"io.modelcontextprotocol/serverInfo": self}
		c.replyLasting(about)
		return
	}
	version := c.params.Get("protocolVersion").Str
	if !slices.Contains(versions[1:], version) {
		version = versions[1]
	}
	e.can = mcpAbilities(c.params.Get("capabilities"))
	about["protocolVersion"], about["serverInfo"] = version, self
	c.reply(about)
}

// replyLasting answers with what is always the same. A client that keeps nothing of a request
// for the next is told for how long that holds.
func (c *mcpCall) replyLasting(result map[string]any) {
	if c.stateless {
		result["resultType"], result["ttlMs"], result["cacheScope"] = "complete", time.Hour.Milliseconds(), "private"
	}
	c.reply(result)
}

// callTool begins a tool. A cancel that follows finds it.
func (e *mcpEditor) callTool(c *mcpCall) {
	tool := e.tools[c.params.Get("name").Str]
	if tool == nil {
		c.fail(acp.CodeInvalidParams, "editor: there is no tool "+c.params.Get("name").String(), "")
		return
	}
	if c.isAnswer() {
		tool = e.comesBack
	}
	ctx, stop := context.WithTimeout(e.server.ctx, cmp.Or(e.server.agent.opts.AnswerWithin, DefaultAnswerWithin))
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	e.mu.Lock()
	e.calls[c.ID] = c
	e.mu.Unlock()
	running := e.server.spawn(func(context.Context) {
		defer stop()
		outcome, err := tool(c)
		c.answer(outcome, err)
	})
	if !running {
		stop()
	}
}

// answer answers a call of a tool, unless the client has cancelled it. An error is for the model
// and its user.
func (c *mcpCall) answer(outcome mcpOutcome, err error) {
	e := c.server.mcp
	e.mu.Lock()
	delete(e.calls, c.ID) // it cannot be cancelled any more
	e.mu.Unlock()
	why := context.Cause(c.ctx)
	wanted := !errors.Is(why, errCancelled) && !errors.Is(why, errTooLate)
	var result *mcp.CallResult
	switch {
	case err != nil:
		result = mcp.Failure(errors.New(c.agent.lineOf(err)))
	case wanted:
		result = outcome()
	}
	if c.talk != nil {
		c.talk.release() // before the answer: the client's next call may follow at once
	}
	if !wanted {
		c.server.out.Unanswered()
		return
	}
	if c.stateless {
		result.ResultType = cmp.Or(result.ResultType, "complete")
	}
	c.reply(result)
}

// lineOf is an error in a line: an agent's words in it cannot pose as lines of ours.
func (a *Agent) lineOf(err error) string {
	return ask.Visible(strings.Join(strings.Fields(a.opts.Mask(err.Error())), " "))
}

// Why a client has cancelled a call: a person wished it, or a limit of the client's was shorter
// than ours.
var (
	errCancelled = errors.New("editor: the call was cancelled")
	errTooLate   = errors.New("editor: the call took the client too long")
)

// cancelled is a client's cancel. Some cancel what was answered, and some twice.
func (e *mcpEditor) cancelled(c *mcpCall) {
	id, ok := stdio.ParseID(c.params.Get("requestId").Raw)
	if !ok {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if call := e.calls[jsonrpc2.ID(id)]; call != nil {
		why := errCancelled
		if reason := strings.ToLower(c.params.Get("reason").String()); strings.Contains(reason, "timed out") || strings.Contains(reason, "-32001") {
			why = errTooLate
		}
		call.cancel(why)
	}
}

// tell tells a client that has asked for it how far a call is.
func (c *mcpCall) tell(text string) {
	token := c.params.Get("_meta.progressToken")
	if token.Type == gjson.Null { // there is none
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
func (c *mcpCall) argument(name string) string { return c.params.Get("arguments." + name).Str }

// agentOf returns an agent by its name, which is contacted when it is used. "" is the first.
func (e *mcpEditor) agentOf(ctx context.Context, name string) (*Agent, string, error) {
	names, err := e.names()
	if err != nil {
		return nil, "", err
	}
	name = cmp.Or(name, names[0])
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

// names are those of the agents. One that is there alone, and has none, is called agent.
func (e *mcpEditor) names() ([]string, error) {
	if agents := e.server.agent.opts.Agents; agents != nil {
		return agents.Names()
	}
	return []string{"agent"}, nil
}

// leave ends what a call waits for, and leaves the other tasks to their agents: the next
// process finds them.
func (e *mcpEditor) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
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

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

// DefaultAnswerWithin is [Options.AnswerWithin] where that is 0. It is below the limits of all clients that are known; the shortest is 60 s.
const DefaultAnswerWithin = 45 * time.Second

// codeVersion is MCP's error for a version that is not spoken.
const codeVersion = -32022

// mcpMeta is how the members begin that a request of 2026-07-28 has of its own.
const mcpMeta = `_meta.io\.modelcontextprotocol/`

// mcpEditor is a client that speaks the Model Context Protocol.
type mcpEditor struct {
	server *server
	agents Agents
	tools  map[string]func(*mcpCall) (*mcp.CallResult, error)
	can    abilities // what initialize has said; the read loop writes it

	mu      sync.Mutex
	calls   map[jsonrpc2.ID]context.CancelCauseFunc
	talks   map[string]*mcpTalk // by handle
	opening sync.Mutex          // for opening an agent, or restoring a conversation
}

func newMCPEditor(s *server) *mcpEditor {
	e := &mcpEditor{server: s, agents: s.agent.opts.Agents, calls: map[jsonrpc2.ID]context.CancelCauseFunc{}, talks: map[string]*mcpTalk{}}
	if e.agents == nil {
		e.agents = onlyAgent{s}
	}
	e.tools = map[string]func(*mcpCall) (*mcp.CallResult, error){ // by their names in spell.MCPTools
		"send_message": e.sendMessage, "wait_task": e.waitTask, "cancel_task": e.cancelTask, "read_artifact": e.readArtifact, "list_agents": e.listAgents}
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
	progress int // how many notifications it has had
}

// handle takes a message. What is to be done in the order of the messages is done in here.
func (e *mcpEditor) handle(r *editorRequest) {
	c := &mcpCall{editorRequest: r, can: e.can}
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

// callTool runs a tool, and answers with its result, or its error, which is for the model and its
// user. A cancel that follows finds the call.
func (e *mcpEditor) callTool(c *mcpCall) {
	tool := e.tools[c.params.Get("name").Str]
	if tool == nil {
		c.fail(acp.CodeInvalidParams, "editor: there is no tool "+c.params.Get("name").String(), "")
		return
	}
	if c.params.Get("requestState").Exists() || c.params.Get("inputResponses").Exists() {
		tool = e.comesBack
	}
	ctx, stop := context.WithTimeout(e.server.ctx, cmp.Or(e.server.agent.opts.AnswerWithin, DefaultAnswerWithin))
	ctx, cancel := context.WithCancelCause(ctx)
	c.ctx = ctx
	e.mu.Lock()
	e.calls[c.ID] = cancel
	e.mu.Unlock()
	e.server.spawn(func(context.Context) {
		defer stop()
		result, err := tool(c)
		if err != nil {
			result = mcp.Failure(errors.New(e.server.agent.lineOf(err)))
		}
		if !c.isWanted() {
			e.server.out.Unanswered()
			return
		}
		if c.stateless {
			result.ResultType = cmp.Or(result.ResultType, "complete")
		}
		c.reply(result)
	})
}

// isWanted reports whether the client still wants a result; it cannot cancel the call any more.
// What is taken from a conversation is given once, so that nothing is taken before.
func (c *mcpCall) isWanted() bool {
	e := c.server.mcp
	e.mu.Lock()
	delete(e.calls, c.ID)
	e.mu.Unlock()
	why := context.Cause(c.ctx)
	return !errors.Is(why, errCancelled) && !errors.Is(why, errTooLate)
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
	e.mu.Lock() // isWanted finds the call cancelled, or takes it away before
	defer e.mu.Unlock()
	why, reason := errCancelled, strings.ToLower(c.params.Get("reason").String())
	if strings.Contains(reason, "timed out") || strings.Contains(reason, "-32001") {
		why = errTooLate
	}
	if cancel := e.calls[jsonrpc2.ID(id)]; ok && cancel != nil {
		cancel(why)
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

// lineOf is an error in a line: an agent's words in it cannot pose as lines of ours.
func (a *Agent) lineOf(err error) string {
	return ask.Visible(strings.Join(strings.Fields(a.opts.Mask(err.Error())), " "))
}

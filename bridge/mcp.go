package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
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
	server       *server
	openingAgent chan struct{} // has a value while an agent is opened, one at a time
	can          abilities     // what initialize has said; the read loop writes it
	calls        sync.Map      // the *mcpCall that run, by stdio.ID
	talks        sync.Map      // the *mcpTalk that have begun, by handle
	talkCount    int           // how many of them; server.mu guards it
	// restoring is held while a talk of an earlier process is restored.
	restoring sync.Mutex
}

// speaksMCP reports whether a request tells that the client speaks MCP: its version is a date,
// and ACP's a number.
func speaksMCP(c *editorRequest) bool {
	params := gjson.ParseBytes(c.raw)
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
	agent     *Agent // whose credentials an error does not say
	// ctx, which stop ends, ends with a cancel, with the call's time, or with the bridge.
	ctx      context.Context
	stop     context.CancelFunc
	fate     atomic.Int32 // what has become of it first
	progress int          // how many notifications it has had
}

// handle takes a message, in the read loop. What is to be done in the order of the messages is
// done in here.
func (e *mcpEditor) handle(r *editorRequest) {
	c := &mcpCall{editorRequest: r, params: gjson.ParseBytes(r.raw), can: e.can, agent: e.server.agent}
	version := c.params.Get(mcpMeta + "protocolVersion")
	if c.stateless = version.Exists(); c.stateless {
		c.can = mcpAbilities(c.params.Get(mcpMeta + "clientCapabilities"))
	}
	switch {
	case r.isNotification:
		if r.method == "notifications/cancelled" {
			e.cancelled(c)
		}
	case c.stateless && version.Str != spell.MCPStateless:
		err := &jsonrpc2.Error{Code: codeVersion, Message: "editor: MCP " + version.String() + " is not spoken here"}
		err.SetError(map[string]any{"supported": spell.MCPVersions(), "requested": version.String()})
		c.failWith(err)
	case r.method == acp.MethodInitialize || r.method == "server/discover":
		e.introduce(c)
	case r.method == "ping":
		c.reply(struct{}{})
	case r.method == "tools/list":
		c.replyLasting(map[string]any{"tools": json.RawMessage(spell.MCPTools)})
	case r.method == "tools/call":
		e.callTool(c)
	default:
		c.fail(acp.CodeMethodNotFound, "editor: a2astdio has tools, and no "+r.method, "")
	}
}

// mcpAbilities are what a client has declared in its capabilities, whatever its version.
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
	about := mcp.Initialized(versions[1:], c.params.Get("protocolVersion").Str, self)
	if c.stateless = c.method != acp.MethodInitialize; c.stateless {
		about = map[string]any{"supportedVersions": versions, "capabilities": about["capabilities"],
			"_meta": map[string]any{"io.modelcontextprotocol/serverInfo": self}}
	} else {
		e.can = mcpAbilities(c.params.Get("capabilities"))
	}
	about["instructions"] = spell.MCPInstructions
	c.replyLasting(about)
}

// replyLasting answers with what is always the same. A client that keeps nothing of a request
// for the next is told for how long that holds, in members that are added to result.
func (c *mcpCall) replyLasting(result map[string]any) {
	if c.stateless {
		result["resultType"], result["ttlMs"], result["cacheScope"] = "complete", time.Hour.Milliseconds(), "private"
	}
	c.reply(result)
}

// callTool runs a tool, and answers with its result, or its error, which is for the model and its
// user. A cancel that follows finds the call.
func (e *mcpEditor) callTool(c *mcpCall) {
	name := c.params.Get("name")
	if !slices.ContainsFunc(gjson.Get(spell.MCPTools, "#.name").Array(), func(tool gjson.Result) bool { return tool.Str == name.Str }) {
		c.fail(acp.CodeInvalidParams, "editor: there is no tool "+name.String(), "")
		return
	}
	c.ctx, c.stop = context.WithTimeout(e.server.ctx, cmp.Or(e.server.agent.opts.AnswerWithin, DefaultAnswerWithin))
	e.calls.Store(c.id, c)
	e.server.spawn(func(context.Context) {
		defer c.stop()
		defer e.calls.CompareAndDelete(c.id, c) // the client may use the ID again
		result, err := e.run(c)
		if err != nil {
			result = mcp.Failure(errors.New(c.agent.oneLine(err)))
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

// run runs a tool: in a conversation, unless it lists the agents.
func (e *mcpEditor) run(c *mcpCall) (*mcp.CallResult, error) {
	name := c.params.Get("name").Str
	if name == "list_agents" && !c.bringsAnswer() {
		return e.listAgents(c)
	}
	t, err := e.conversation(c)
	if err != nil {
		return nil, err
	}
	c.agent = t.session.agent
	switch {
	case c.bringsAnswer():
		return t.serve(c, func() error { return t.takeAnswer(c) })
	case name == "send_message":
		return t.serve(c, func() error { return t.sendMessage(c) })
	case name == "wait_task":
		return t.serve(c, func() error { return t.goOn(false) })
	case name == "cancel_task":
		return t.cancelTask(c)
	}
	return t.readArtifact(c)
}

// What becomes of a call first: its result is given, a person cancels it, or a limit of the
// client's was shorter than ours.
const (
	callGiven = 1 + iota
	callCancelled
	callTooLate
)

// isWanted reports whether the client still wants a result; if so, it cannot cancel the call
// any more. What is taken from a conversation is given once, so that nothing is taken before.
func (c *mcpCall) isWanted() bool {
	return c.fate.CompareAndSwap(0, callGiven) || c.fate.Load() == callGiven
}

// cancelled ends the call that notifications/cancelled names. Some clients cancel what was
// answered, and some twice.
func (e *mcpEditor) cancelled(c *mcpCall) {
	call, runs := e.calls.Load(stdio.ID(c.params.Get("requestId").Raw))
	if !runs {
		return
	}
	fate, reason := int32(callCancelled), strings.ToLower(c.params.Get("reason").String())
	if strings.Contains(reason, "timed out") || strings.Contains(reason, "-32001") {
		fate = callTooLate
	}
	if call := call.(*mcpCall); call.fate.CompareAndSwap(0, fate) {
		call.stop()
	}
}

// sendProgress tells a client that has asked for it how far a call is.
func (c *mcpCall) sendProgress(text string) {
	token := c.params.Get("_meta.progressToken")
	if token.Type == gjson.Null { // there is none
		return
	}
	c.progress++
	_ = c.server.conn.Notify(context.Background(), "notifications/progress", // a client that is gone is seen elsewhere
		map[string]any{"progressToken": json.RawMessage(token.Raw), "progress": c.progress, "message": text})
}

// argument is a string of a tool's arguments; "": there is none.
func (c *mcpCall) argument(name string) string { return c.params.Get("arguments." + name).Str }

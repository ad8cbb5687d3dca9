package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
	"github.com/a2astdio/a2astdio/transport/stdio"
)

// cardWait is how long the answer to initialize waits for the agent's card, which
// decides what the prompt may hold. A user does not notice so short a wait.
const cardWait = 200 * time.Millisecond

// acpEditor is an editor that speaks the Agent Client Protocol, in version 1 or, once
// initialize has chosen it, in version 2: see acp2.go.
type acpEditor struct {
	server      *server
	initialized bool // only the read loop looks at it
	v2          bool // not written after the first initialize
	methods     map[string]func(*editorRequest)
	// answerInitialize answers initialize, if that is not done: what comes right behind it is
	// answered after it. Only the read loop looks at it.
	answerInitialize func()
	can              abilities // by the first initialize; not written afterwards
	// signIn is the newest request for a sign-in, which endSignIn ends. They are the read loop's.
	signIn    stdio.ID
	endSignIn context.CancelCauseFunc
}

func newACPEditor(s *server) *acpEditor {
	e := &acpEditor{server: s, answerInitialize: func() {}}
	e.methods = map[string]func(*editorRequest){
		acp.MethodInitialize:       decoded(e.initialize),
		acp.MethodAuthenticate:     e.authenticate,
		acp.MethodLogout:           e.logout,
		acp.MethodSessionNew:       decoded(e.newSession),
		acp.MethodSessionClose:     decoded(e.closeSession),
		acp.MethodSessionLoad:      decoded(func(c *editorRequest, p *acp.NewSessionRequest) { e.reopen(c, p, true) }),
		acp.MethodSessionResume:    decoded(func(c *editorRequest, p *acp.NewSessionRequest) { e.reopen(c, p, false) }),
		acp.MethodSessionList:      decoded(e.listSessions),
		acp.MethodSessionDelete:    decoded(e.deleteSession),
		acp.MethodSessionPrompt:    decoded(e.prompt),
		acp.MethodSessionCancel:    decoded(e.cancel),
		acp.MethodSessionSetMode:   decoded(e.setMode),
		acp.MethodSessionSetConfig: decoded(e.setConfig),
		acp.MethodCancelRequest:    decoded(e.cancelRequest),
	}
	return e
}

// handle answers a request, or has its method do that. It is called by the read loop alone.
func (e *acpEditor) handle(c *editorRequest) {
	e.answerInitialize()
	method, ok := e.methods[c.method]
	switch {
	case !ok && e.initialized && e.server.ide.handles(c):
	case !ok:
		c.fail(acp.CodeMethodNotFound, "editor: a2astdio does not offer the method "+c.method, "")
	case !e.initialized && c.method != acp.MethodInitialize:
		c.fail(acp.CodeInvalidRequest, "editor: "+c.method+" came before initialize: send initialize first", "")
	case c.method == acp.MethodInitialize, c.method == acp.MethodAuthenticate, c.method == acp.MethodLogout, c.method == acp.MethodAuthLogin,
		c.method == acp.MethodAuthLogout:
		method(c)
	default:
		e.server.withAgent(c, method)
	}
}

// initialize answers at once with what is known of the agent's card; where nothing is
// known, it waits a little: see cardWait. A card that is known is answered with before
// the agent is contacted, because on one processor the two would delay each other.
// Without an agent it does not wait.
func (e *acpEditor) initialize(c *editorRequest, p *acp.InitializeRequest) {
	if !e.negotiate(c, p) {
		return
	}
	if !e.initialized { // else requests under way may be reading it
		e.can = readAbilities(p, e.v2)
		e.server.ide.introduce(p)
	}
	e.initialized = true
	var replied sync.Once
	reply := func(facts *store.CardFacts) {
		replied.Do(func() {
			if e.v2 {
				c.reply(e.capabilities2(facts))
			} else {
				c.reply(e.capabilities(facts))
			}
		})
	}
	if !e.server.setup.done.Load() {
		reply(nil)
		return
	}
	facts := e.server.agent.known()
	if e.server.agent.opts.Enter != nil { // see offerCommands
		reply(facts)
		return
	}
	e.answerInitialize = func() { reply(facts) }
	if facts != nil && !facts.OAuth { // a browser is not offered where the agent is down
		e.answerInitialize()
	}
	late := time.AfterFunc(cardWait, e.answerInitialize)
	e.server.spawn(func(ctx context.Context) {
		defer late.Stop()
		if e.server.out.Flush(ctx) == nil {
			e.fetchCard(ctx, facts, reply)
		}
	})
}

// capabilities is the answer to initialize, in ACP's own order. It is written by hand: it is the
// first thing that a process says, and a struct of it has nine types, which take reflection 0.1 ms.
func (e *acpEditor) capabilities(facts *store.CardFacts) json.RawMessage {
	title, image, audio := "A2A agent", false, false
	if facts != nil {
		title, image, audio = facts.Name, facts.Image, facts.Audio
	}
	info, _ := json.Marshal(acp.Implementation{Name: "a2astdio", Title: title, Version: e.server.opts.Version}) // texts always encode
	methods := []byte("[]")
	if offered := e.offeredMethods(facts); len(offered) > 0 {
		methods, _ = json.Marshal(offered)
	}
	sessions := `"close":{}`
	if e.server.opts.stores() {
		sessions = `"list":{},"resume":{},"close":{},"delete":{}`
	}
	// The agent gets MCP servers as the editor spells them: the user who has turned this on
	// knows that it takes them.
	mcp := e.server.agent.opts.ForwardMCP
	b := fmt.Appendf(make([]byte, 0, 1<<10), `{"protocolVersion":%d,"agentInfo":%s,"authMethods":%s,"agentCapabilities":{"loadSession":%t,`+
		`"promptCapabilities":{"image":%t,"audio":%t,"embeddedContext":true},"mcpCapabilities":{"http":%t,"sse":%t},`+
		`"sessionCapabilities":{%s,"additionalDirectories":{}}`, acp.Version, info, methods, e.server.opts.stores(), image, audio, mcp, mcp, sessions)
	if e.login() != nil {
		b = append(b, `,"auth":{"logout":{}}`...)
	}
	if meta := e.ownMeta(facts); meta != nil {
		raw, _ := json.Marshal(meta)
		b = append(append(b, `,"_meta":`...), raw...)
	}
	return append(b, "}}"...)
}

// ownMeta is what initialize says that is not ACP's; nil if nothing.
func (e *acpEditor) ownMeta(facts *store.CardFacts) map[string]any {
	meta := map[string]any{}
	if e.server.opts.Companion != nil {
		meta["companion"] = map[string]int{"version": 1}
	}
	if facts != nil && facts.Abilities != "" {
		meta["abilities"] = facts.Abilities
	}
	if len(meta) == 0 {
		return nil
	}
	return map[string]any{"a2astdio": meta}
}

func (e *acpEditor) newSession(c *editorRequest, p *acp.NewSessionRequest) {
	p.Cwd = cmp.Or(p.Cwd, e.server.agent.opts.Workspace)
	if !c.checkDirectories(p) {
		return
	}
	e.server.ide.open(p.Cwd)
	session := e.server.agent.NewSession(p.Cwd)
	session.setAdditional(p.AdditionalDirectories)
	if !e.admit(c, session, p) {
		return
	}
	// It is stored with its first prompt: nobody wants an empty one in a list.
	c.reply(e.opened(session, session.ID))
	e.offerCommands(session)
}

// admit sets up a session, and adds it to the open ones; false: it has answered with an error.
func (e *acpEditor) admit(c *editorRequest, session *Session, p *acp.NewSessionRequest) bool {
	session.mcp = p.McpServers
	session.fold.Joins = session.agent.opts.Observe == nil // each step of an observer has its event
	if session.queues = e.v2; e.v2 {
		session.fold.InPlace()
	}
	err := e.serveTools(session)
	if err == nil && !e.server.add(session) {
		session.endTools()
		err = fmt.Errorf("bridge: %d sessions are open, which is the limit: close one with session/close", maxSessions)
	}
	if err != nil {
		c.fail(acp.CodeInternal, err.Error(), "")
	}
	return err == nil
}

// offerCommands tells the editor the agent's slash commands. It is called behind the result
// of the request that opens the session: updates before it hang JetBrains and others.
func (e *acpEditor) offerCommands(session *Session) {
	e.server.spawn(func(ctx context.Context) {
		if agent := e.server.agent; agent.opts.Enter != nil {
			e.fetchCard(ctx, agent.known(), func(*store.CardFacts) {})
		}
		commands, err := e.server.agent.Commands(ctx)
		if err != nil {
			e.server.agent.opts.Log.Debug("asking for the agent's commands", "err", err)
		}
		if len(commands) > 0 {
			out := e.spelling(session)
			e.send(ctx, out.Commands(nil, commands))
		}
	})
}

// session finds an open session; nil: there is none, and it has answered with an error.
func (e *acpEditor) session(c *editorRequest, id string) *Session {
	e.server.mu.Lock()
	session := e.server.sessions[id]
	e.server.mu.Unlock()
	if session == nil {
		e.noSession(c, fmt.Sprintf("editor: %s: no session %q: open one with session/new", c.method, id), id)
	}
	return session
}

// closeSession ends a session with its work. It stays in the store.
func (e *acpEditor) closeSession(c *editorRequest, p *acp.SessionRequest) {
	answer := func() { c.reply(struct{}{}) }
	if !e.v2 { // in version 2 the answer is behind all that the session still says
		answer()
		answer = func() {}
	}
	e.server.dismiss(p.SessionID, false, answer)
}

func (e *acpEditor) cancel(c *editorRequest, p *acp.SessionRequest) {
	if session := e.session(c, p.SessionID); session != nil {
		session.Cancel()
		c.reply(struct{}{}) // a notification, by the book: some send a request
	}
}

// cancelRequest cancels a prompt, or a sign-in, by the ID of its request. Other
// requests are too short for it.
func (e *acpEditor) cancelRequest(c *editorRequest, p *acp.CancelRequest) {
	id := stdio.ID(p.RequestID)
	if e.endSignIn != nil && id == e.signIn {
		e.endSignIn(context.Canceled)
	}
	e.server.cancelPrompts(id)
	c.reply(struct{}{}) // a notification, too
}

// prompt runs a turn. It is registered before the next message is read, so that
// a cancel that follows finds it.
func (e *acpEditor) prompt(c *editorRequest, p *acp.PromptRequest) {
	session := e.session(c, p.SessionID)
	if session == nil {
		return
	}
	c.run(session, func(ctx context.Context, turn Turn) {
		if err := turn.wait(ctx); err != nil { // for what a loaded session's task still says
			turn.Discard()
			if errors.Is(err, errAsked) {
				c.fail(acp.CodeInvalidRequest, err.Error(), "")
				return
			}
			c.reply(acp.PromptResponse{StopReason: acp.StopCancelled})
			return
		}
		view := e.view(session)
		view.addPrompt(ctx, c, p.Prompt, func(string) {})
		prompt := e.server.ide.withOpenFile(e.withBuffers(ctx, turn, p.Prompt))
		result, last, err := e.converse(ctx, turn, view, prompt)
		if session.isShut() { // whoever loads it waits for the turn, and is to read the reply first
			defer last.Discard()
		} else { // the next prompt may come right behind the reply
			last.Discard()
		}
		if err != nil {
			c.fail(spell.ACPError(err))
			return
		}
		c.reply(acp.PromptResponse{StopReason: result.StopReason, Meta: promptMeta(&result)})
	})
}

// rawPrompt is the prompt of a request, as the editor has written it.
func (c *editorRequest) rawPrompt() a2a.JSON { return a2a.JSON(gjson.GetBytes(c.raw, "prompt").Raw) }

// traceOf reads the W3C Trace Context out of params: it is at the root of their _meta (ACP,
// Extensibility).
func traceOf(params []byte) a2a.TraceContext {
	meta := gjson.GetBytes(params, "_meta")
	return a2a.TraceContext{Parent: meta.Get("traceparent").Str, State: meta.Get("tracestate").Str}
}

// title is what a session is called in a list: the first line of its first
// prompt.
func title(prompt []acp.ContentBlock) string {
	for _, b := range prompt {
		if line, _, _ := strings.Cut(strings.TrimSpace(b.Text), "\n"); b.Type == "text" && line != "" {
			if r := []rune(line); len(r) > 80 {
				line = string(r[:79]) + "…"
			}
			return line
		}
	}
	return "Untitled"
}

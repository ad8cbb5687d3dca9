package bridge

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
)

// cardWait is how long the answer to initialize waits for the agent's card: what
// the prompt may hold is fixed there, and a user does not notice it.
const cardWait = 200 * time.Millisecond

// acpEditor is an editor that speaks the Agent Client Protocol, version 1.
type acpEditor struct {
	server      *server
	initialized bool // only the read loop looks at it
	methods     map[string]func(*call)
	// answered is closed when initialize has been: what comes right behind it is
	// answered after it.
	answered chan struct{}
	once     sync.Once
}

func newACPEditor(s *server) *acpEditor {
	e := &acpEditor{server: s, answered: make(chan struct{})}
	e.methods = map[string]func(*call){
		acp.MethodInitialize:       e.initialize,
		acp.MethodAuthenticate:     e.authenticate,
		acp.MethodLogout:           func(c *call) { c.reply(struct{}{}) },
		acp.MethodSessionNew:       e.newSession,
		acp.MethodSessionClose:     e.closeSession,
		acp.MethodSessionLoad:      e.load,
		acp.MethodSessionResume:    e.resume,
		acp.MethodSessionList:      e.listSessions,
		acp.MethodSessionDelete:    e.deleteSession,
		acp.MethodSessionPrompt:    e.prompt,
		acp.MethodSessionCancel:    e.cancel,
		acp.MethodSessionSetMode:   e.setMode,
		acp.MethodSessionSetConfig: e.setConfig,
		acp.MethodCancelRequest:    e.cancelRequest,
	}
	return e
}

func (e *acpEditor) handle(c *call) {
	method, ok := e.methods[c.Method]
	switch {
	case !ok:
		c.fail(acp.CodeMethodNotFound, "editor: a2astdio does not offer the method "+c.Method, "")
	case !e.initialized && c.Method != acp.MethodInitialize:
		c.fail(acp.CodeInvalidRequest, "editor: "+c.Method+" came before initialize: send initialize first", "")
	default:
		method(c)
	}
}

// initialize answers at once with what is known of the agent's card; where
// nothing is, it waits a little for it: see cardWait. What is known is written
// before the agent is contacted, because the two would share one processor.
func (e *acpEditor) initialize(c *call) {
	var p acp.InitializeRequest
	if !c.decode(&p) {
		return
	}
	e.initialized = true
	facts := e.server.agent.opts.Store.facts(e.server.agent.opts.Name)
	if facts != nil {
		c.reply(e.capabilities(facts))
		e.once.Do(func() { close(e.answered) })
		e.server.spawn(func(ctx context.Context) {
			if e.server.out.Flush(ctx) == nil {
				e.contact(ctx, func(*cardFacts) {})
			}
		})
		return
	}
	known := make(chan *cardFacts, 1)
	e.server.spawn(func(ctx context.Context) { e.contact(ctx, func(facts *cardFacts) { known <- facts }) })
	e.server.spawn(func(ctx context.Context) {
		timer := time.NewTimer(cardWait)
		defer timer.Stop()
		select {
		case facts = <-known:
		case <-timer.C:
		case <-ctx.Done():
		}
		c.reply(e.capabilities(facts))
		e.once.Do(func() { close(e.answered) })
	})
}

// contact learns the agent's card, tells it, nil if there is none to be had, and
// keeps it for the next process.
func (e *acpEditor) contact(ctx context.Context, tell func(*cardFacts)) {
	opts := &e.server.agent.opts
	card, _, err := e.server.agent.Ready(ctx)
	if err != nil {
		opts.Log.Debug("the agent is not ready", "err", err)
		tell(nil)
		return
	}
	tell(factsOf(card))
	if err := opts.Store.putFacts(opts.Name, factsOf(card)); err != nil {
		opts.Log.Debug("the card is not stored", "err", err)
	}
}

func (e *acpEditor) capabilities(facts *cardFacts) *acp.InitializeResponse {
	r := &acp.InitializeResponse{
		ProtocolVersion: acp.Version,
		AgentInfo:       acp.Implementation{Name: "a2astdio", Title: "A2A agent", Version: e.server.agent.opts.Version},
		AuthMethods:     []acp.AuthMethod{},
	}
	r.AgentCapabilities.PromptCapabilities.EmbeddedContext = true
	r.AgentCapabilities.SessionCapabilities.Close = &struct{}{}
	if e.server.agent.opts.Store != nil {
		r.AgentCapabilities.LoadSession = true
		sessions := &r.AgentCapabilities.SessionCapabilities
		sessions.List, sessions.Resume, sessions.Delete = &struct{}{}, &struct{}{}, &struct{}{}
	}
	if facts != nil {
		r.AgentInfo.Title = facts.Name
		r.AgentCapabilities.PromptCapabilities.Image = facts.Image
		r.AgentCapabilities.PromptCapabilities.Audio = facts.Audio
	}
	return r
}

// authenticate succeeds unless the agent refuses us: credentials come from the
// command line and the environment, not from the editor.
func (e *acpEditor) authenticate(c *call) {
	e.server.spawn(func(ctx context.Context) {
		ctx, stop := context.WithTimeout(ctx, 5*time.Second) // clients block on this
		defer stop()
		if _, _, err := e.server.agent.Ready(ctx); err != nil {
			if code, message, details := mapping.ACPError(err); code == acp.CodeAuthRequired {
				c.fail(code, message, details)
				return
			}
		}
		c.reply(struct{}{})
	})
}

func (e *acpEditor) newSession(c *call) {
	var p acp.NewSessionRequest
	if !c.decode(&p) {
		return
	}
	if p.Cwd == "" {
		p.Cwd = e.server.agent.opts.Workspace
	}
	if err := checkCwd(p.Cwd); err != nil {
		c.fail(acp.CodeInvalidParams, err.Error(), "")
		return
	}
	session := e.server.agent.NewSession(p.Cwd)
	session.mcp = p.McpServers
	if !e.server.add(session) {
		c.fail(acp.CodeInternal, tooManySessions(), "")
		return
	}
	e.server.spawn(func(ctx context.Context) {
		select {
		case <-e.answered:
		case <-ctx.Done():
		}
		// Before the answer: some editors (acpx) end the process at once, and
		// come back for the session in another one.
		session.save()
		c.reply(acp.NewSessionResponse{SessionID: session.ID, Modes: modes(session)})
		e.offerCommands(session)
	})
}

func tooManySessions() string {
	return fmt.Sprintf("bridge: %d sessions are open, which is the limit: close one with session/close", maxSessions)
}

// offerCommands tells the editor the agent's slash commands, after the result of
// session/new: updates before it hang JetBrains and others.
func (e *acpEditor) offerCommands(session *Session) {
	e.server.spawn(func(ctx context.Context) {
		commands, err := e.server.agent.Commands(ctx)
		if err != nil {
			e.server.agent.opts.Log.Debug("asking for the agent's commands", "err", err)
		}
		if len(commands) > 0 {
			out := mapping.ACP{Session: session.ID}
			e.send(ctx, out.Commands(nil, commands))
		}
	})
}

func checkCwd(cwd string) error {
	if !filepath.IsAbs(cwd) {
		return fmt.Errorf("editor: session/new: cwd %q is not an absolute path", cwd)
	}
	info, err := os.Stat(cwd)
	if err != nil {
		return fmt.Errorf("editor: session/new: cwd %q: %v", cwd, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("editor: session/new: cwd %q is not a directory", cwd)
	}
	return nil
}

func modes(s *Session) *acp.SessionModes {
	return &acp.SessionModes{CurrentModeID: s.Mode(), AvailableModes: []acp.SessionMode{
		{ID: ModeDefault, Name: "Default", Description: "Ask before each tool that the agent wants approved"},
		{ID: ModeAcceptEdits, Name: "Accept edits", Description: "Allow file edits, ask before everything else"},
		{ID: ModeYolo, Name: "Allow everything", Description: "Never ask"},
	}}
}

// session finds the session that a request is about; if there is none, that is
// answered.
func (e *acpEditor) session(c *call, id string) *Session {
	s := e.server
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[id]
	if session == nil {
		c.fail(acp.CodeResourceNotFound, fmt.Sprintf("editor: %s: no session %q: open one with session/new", c.Method, id), "")
	}
	return session
}

func (e *acpEditor) closeSession(c *call) {
	var p acp.SessionRequest
	if !c.decode(&p) {
		return
	}
	e.server.drop(p.SessionID)
	c.reply(struct{}{})
}

func (e *acpEditor) setMode(c *call) {
	var p acp.SessionRequest
	if !c.decode(&p) {
		return
	}
	session := e.session(c, p.SessionID)
	if session == nil {
		return
	}
	if err := session.SetMode(p.ModeID); err != nil {
		c.fail(acp.CodeInvalidParams, err.Error(), "")
		return
	}
	c.reply(struct{}{})
	e.server.spawn(func(ctx context.Context) {
		out := mapping.ACP{Session: session.ID}
		e.send(ctx, out.Mode(nil, p.ModeID))
	})
}

// setConfig: there is nothing to configure, and session/new says so by leaving
// configOptions out.
func (e *acpEditor) setConfig(c *call) {
	c.fail(acp.CodeInvalidParams, "editor: this agent has no configuration options", "")
}

func (e *acpEditor) cancel(c *call) {
	var p acp.SessionRequest
	if !c.decode(&p) {
		return
	}
	if session := e.session(c, p.SessionID); session != nil {
		session.Cancel()
		c.reply(struct{}{}) // a notification, by the book: some send a request
	}
}

// cancelRequest cancels a prompt by the ID of its request. Other requests are
// too short for it.
func (e *acpEditor) cancelRequest(c *call) {
	var p acp.CancelRequest
	if !c.decode(&p) {
		return
	}
	id, ok := transport.ParseID(string(p.RequestID))
	if !ok {
		return
	}
	s := e.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if session := s.prompts[id]; session != nil {
		session.Cancel()
	}
}

// prompt runs a turn. It is registered before the next message is read, so that
// a cancel that follows finds it.
func (e *acpEditor) prompt(c *call) {
	var p acp.PromptRequest
	if !c.decode(&p) {
		return
	}
	session := e.session(c, p.SessionID)
	if session == nil {
		return
	}
	turn, ok := c.begin(session)
	if !ok {
		return
	}
	running := e.server.spawn(func(ctx context.Context) {
		view := e.view(c.conn, session)
		session.recordPrompt(&view.out, *c.Params)
		if session.Title == "" {
			session.Title = title(p.Prompt)
			e.send(ctx, view.out.Info(nil, session.Title, e.server.agent.opts.Now().UTC().Format(time.RFC3339)))
		}
		result, err := turn.Run(ctx, p.Prompt, view)
		e.server.setPrompt(c.ID, nil)
		if err != nil {
			c.fail(mapping.ACPError(err))
			return
		}
		c.reply(acp.PromptResponse{StopReason: result.StopReason, Meta: mapping.Quota(result.Usage)})
	})
	if !running {
		turn.Abandon()
	}
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

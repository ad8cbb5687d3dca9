package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has what version 2 of ACP does otherwise than version 1. A prompt is answered when it
// has its place in the conversation, and not when its turn is over: a session's state tells that,
// and messages are replaced in place. So a prompt may wait for the one before it, and a task may
// go on when its turn is over (acp2_after.go).

// negotiate chooses the version that is spoken. An editor that asks for more than 2 may say
// otherwise what version 2 wants to know. false: it was answered with an error.
func (e *acpEditor) negotiate(c *editorRequest, p *acp.InitializeRequest) bool {
	asked := p.ProtocolVersion
	params := gjson.ParseBytes(*c.Params)
	name, version := params.Get("info.name"), params.Get("info.version")
	switch {
	case e.v2 && asked < acp.Version2:
		c.fail(acp.CodeInvalidRequest, "editor: initialize: version 2 was chosen before, and is spoken to the end of the connection", "")
	case e.initialized && !e.v2 || asked < acp.Version2 && e.serves != "2" || e.serves == "1":
		return true
	case asked < acp.Version2:
		err := &jsonrpc2.Error{Code: acp.CodeUnsupportedVersion, Message: "editor: initialize: --acp-version 2 serves version 2 of ACP alone"}
		err.SetError(map[string]any{"requested": asked, "supported": []int{acp.Version2}})
		c.failWith(err)
	case asked == acp.Version2 && (name.Type != gjson.String || version.Type != gjson.String):
		c.fail(acp.CodeInvalidParams, "editor: initialize: info with a name and a version is required", "")
	default:
		p.ClientCapabilities = json.RawMessage(params.Get("capabilities").Raw)
		p.ClientInfo = &acp.Implementation{Name: name.Str, Title: params.Get("info.title").Str, Version: version.Str}
		if !e.v2 {
			e.v2, e.methods = true, e.methods2()
		}
		return true
	}
	return false
}

func (e *acpEditor) methods2() map[string]func(*editorRequest) {
	return map[string]func(*editorRequest){
		acp.MethodInitialize:       e.initialize,
		acp.MethodAuthLogin:        e.authenticate,
		acp.MethodAuthLogout:       e.logout,
		acp.MethodSessionNew:       e.newSession,
		acp.MethodSessionClose:     e.closeSession2,
		acp.MethodSessionResume:    e.resume2,
		acp.MethodSessionList:      e.listSessions,
		acp.MethodSessionDelete:    e.deleteSession,
		acp.MethodSessionPrompt:    e.prompt2,
		acp.MethodSessionCancel:    e.cancel,
		acp.MethodSessionSetConfig: e.setConfig2,
		acp.MethodCancelRequest:    e.cancelRequest,
		acp.MethodSteering:         e.steer,
	}
}

func (e *acpEditor) capabilities2(facts *store.CardFacts) *acp.Initialize2Response {
	has := struct{}{}
	r := &acp.Initialize2Response{ProtocolVersion: acp.Version2, Info: acp.Implementation{Name: "a2astdio", Title: "A2A agent", Version: e.version},
		Meta: map[string]any{"steering": map[string]bool{"supported": true}}}
	maps.Copy(r.Meta, e.ownMeta(facts))
	for _, m := range e.offeredMethods(facts) {
		m2 := acp.AuthMethod2{MethodID: m.ID, Name: m.Name, Description: m.Description, Type: m.Type, Args: m.Args}
		if m.Type == "" {
			m2.Type = "agent"
		}
		for name, value := range m.Env {
			m2.Env = append(m2.Env, acp.EnvVariable{Name: name, Value: value})
		}
		slices.SortFunc(m2.Env, func(a, b acp.EnvVariable) int { return strings.Compare(a.Name, b.Name) })
		r.AuthMethods = append(r.AuthMethods, m2)
	}
	s := &r.Capabilities.Session
	s.Prompt = map[string]struct{}{"embeddedContext": has}
	s.AdditionalDirectories = &has
	if e.stores {
		s.Delete = &has
	}
	if e.server.agent.opts.ForwardMCP {
		s.MCP = map[string]struct{}{"stdio": has, "http": has}
	}
	if facts != nil {
		r.Info.Title = facts.Name
		if facts.Image {
			s.Prompt["image"] = has
		}
		if facts.Audio {
			s.Prompt["audio"] = has
		}
	}
	return r
}

// opened2 answers the requests that open a session, with the commands that are known already.
func (e *acpEditor) opened2(session *Session, id string) acp.Session2Response {
	r := acp.Session2Response{SessionID: id, ConfigOptions: configOptions2(session)}
	a := e.server.agent
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.commands) > 0 {
		out := e.out(session)
		r.Commands = out.CommandList(nil, a.commands)
	}
	return r
}

func configOptions2(s *Session) (list []acp.ConfigOption2) {
	for _, o := range configOptions(s) {
		list = append(list, acp.ConfigOption2{ConfigID: o.ID, ConfigOption: o})
	}
	return list
}

func (e *acpEditor) setConfig2(c *editorRequest) {
	var p acp.SetConfig2Request
	if !c.decode(&p) {
		return
	}
	value := ""
	switch {
	case p.ConfigID != configPermission:
		c.fail(acp.CodeInvalidParams, fmt.Sprintf("editor: %s: there is no option %q: the one there is, is %q", c.Method, p.ConfigID, configPermission), "")
	case p.Type != "id" || json.Unmarshal(p.Value, &value) != nil:
		c.fail(acp.CodeInvalidParams, fmt.Sprintf("editor: %s: the value of %q must be of type id, a string", c.Method, configPermission), "")
	default:
		e.changeMode(c, p.SessionID, value, func(s *Session) any { return map[string]any{"configOptions": configOptions2(s)} })
	}
}

// resume2 goes on with a stored session. Its conversation is shown again from the beginning, or
// not at all.
func (e *acpEditor) resume2(c *editorRequest) {
	var p acp.Resume2Request
	if !c.decode(&p) {
		return
	}
	if p.ReplayFrom != nil && p.ReplayFrom.Type != "start" {
		c.fail(acp.CodeInvalidParams, fmt.Sprintf("editor: %s: replayFrom must be of type start, and not %q", c.Method, p.ReplayFrom.Type), "")
		return
	}
	e.open(c, &p.NewSessionRequest, p.ReplayFrom != nil)
}

// closeSession2 answers behind all that the session still says.
func (e *acpEditor) closeSession2(c *editorRequest) {
	var p acp.SessionRequest
	if !c.decode(&p) {
		return
	}
	if session := e.server.find(p.SessionID); session != nil {
		if task := session.unwatch(); task != "" {
			e.server.agent.cancelLater(task)
		}
	}
	e.server.dismiss(p.SessionID, false, func() { c.reply(struct{}{}) })
}

// prompt2 runs a turn, once those before it are over. It takes its place in the line before the
// next message is read.
func (e *acpEditor) prompt2(c *editorRequest) {
	var p acp.PromptRequest
	if c.Notif || !c.decode(&p) {
		return
	}
	if session := e.session(c, p.SessionID); session != nil {
		e.begin2(c, session, p.Prompt, func(id string) any { return acp.Prompt2Response{MessageID: id} })
	}
}

// begin2 begins the turn of a prompt, which is answered with what answer returns when the prompt
// has its place.
func (e *acpEditor) begin2(c *editorRequest, session *Session, prompt []acp.ContentBlock, answer func(id string) any) {
	turn, err := session.queue()
	if err != nil {
		c.fail(acp.CodeInvalidRequest, fmt.Sprintf("editor: %d prompts of this session wait already: cancel them by session/cancel, or wait", maxHeld), "")
		return
	}
	turn.trace = traceOf(*c.Params)
	e.hold(c.ID, turn)
	running := e.server.spawn(func(ctx context.Context) { e.run2(ctx, c, turn, prompt, answer) })
	if !running {
		turn.Discard()
	}
}

// steer sends a message to the task of the turn that runs. Where none does, it is a prompt, if the
// editor does not want to send that itself.
func (e *acpEditor) steer(c *editorRequest) {
	var p acp.PromptRequest
	if c.Notif || !c.decode(&p) {
		return
	}
	session := e.session(c, p.SessionID)
	if session == nil {
		return
	}
	turn := session.running()
	switch {
	case turn == nil && gjson.GetBytes(*c.Params, "_meta.steering.idleBehavior").Str == acp.SteeringPrompt:
		c.reply(acp.Steering2Response{Outcome: acp.SteeringPrompt})
		return
	case turn == nil:
		e.begin2(c, session, p.Prompt, func(string) any { return acp.Steering2Response{Outcome: acp.SteeringNewTurn} })
		return
	}
	e.server.spawn(func(ctx context.Context) {
		said := func() {
			out, id, prompt := e.out(session), e.server.agent.opts.NewID(), a2a.JSON(gjson.GetBytes(*c.Params, "prompt").Raw)
			session.recordPrompt(&out, prompt, id)
			e.send(ctx, out.Said(nil, prompt, id))
			c.reply(acp.Steering2Response{Outcome: acp.SteeringInjected}) // before the agent's answer
		}
		m, err := &steering{prompt: p.Prompt, taken: said, done: make(chan error, 1)}, errCannotSteer
		select {
		case turn.steers <- m:
			err = <-m.done // the turn tells it before it is over
		case <-turn.over:
		case <-ctx.Done():
		}
		if err != nil {
			c.reply(acp.Steering2Response{Outcome: acp.SteeringFailed, Reason: e.server.agent.opts.Mask(err.Error())})
		}
	})
}

// hold notes a prompt that is not answered yet, for $/cancel_request.
func (e *acpEditor) hold(id jsonrpc2.ID, turn Turn) {
	e.loginMu.Lock()
	defer e.loginMu.Unlock()
	e.held[id] = turn
}

func (e *acpEditor) letGo(id jsonrpc2.ID) {
	e.loginMu.Lock()
	defer e.loginMu.Unlock()
	delete(e.held, id)
}

// run2 runs the turn of a prompt.
func (e *acpEditor) run2(ctx context.Context, c *editorRequest, turn Turn, prompt []acp.ContentBlock, answer func(id string) any) {
	defer e.letGo(c.ID)
	session := turn.session
	if err := turn.wait(ctx); err != nil {
		c.fail(acp.CodeRequestCancelled, err.Error(), "")
		if errors.Is(err, errAsked) {
			e.leave(c.conn, turn, nil) // what the agent asks may be answered elsewhere
		} else {
			turn.Discard()
		}
		return
	}
	view, accepted := e.view(c.conn, session), false
	e.tellState(ctx, session, acp.StateRunning)
	turn.accepted = func(ctx context.Context) {
		accepted = true
		first := session.Title == ""
		if first {
			session.Title = title(prompt)
			session.save()
		}
		id := view.said(ctx, *c.Params)
		e.letGo(c.ID)
		c.reply(answer(id))
		if first {
			e.send(ctx, view.out.Info(nil, session.Title, e.server.agent.opts.Now().UTC().Format(time.RFC3339)))
		}
	}
	result, turn, err := e.converse(ctx, c, turn, view, e.server.ide.context(prompt))
	err = view.tellUnanswered(ctx, &result, err)
	switch {
	case accepted:
	case err != nil:
		c.fail(spell.ACPError(err))
	default:
		c.fail(acp.CodeRequestCancelled, errHeld.Error(), "")
	}
	e.tellEnd(view, &result, err)
	e.leave(c.conn, turn, err)
}

// tellResumed tells what a session does that the editor has opened again.
func (e *acpEditor) tellResumed(ctx context.Context, session *Session, goesOn bool) {
	state := acp.StateIdle
	if goesOn {
		state = acp.StateRunning
	}
	if e.v2 {
		e.tellState(ctx, session, state)
	}
}

// tellState tells an editor of version 2 what a session does.
func (e *acpEditor) tellState(ctx context.Context, session *Session, state string) {
	out := e.out(session)
	e.send(ctx, out.State(nil, state))
}

// tellEnd tells that a turn is over, and why.
func (e *acpEditor) tellEnd(v *acpView, r *Result, err error) {
	if !e.v2 {
		return
	}
	reason, failure := r.StopReason, a2a.JSON("")
	if err != nil && reason != acp.StopCancelled {
		mask := e.server.agent.opts.Mask
		code, message, details := spell.ACPError(err)
		raw, _ := json.Marshal(map[string]any{"code": code, "message": mask(message), "data": map[string]string{"details": mask(details)}})
		reason, failure = acp.StopError, a2a.JSON(raw)
	}
	var meta []byte
	if m := promptMeta(r); m != nil {
		meta, _ = json.Marshal(m)
	}
	v.session.mu.Lock()
	v.session.turn.told = true
	v.session.mu.Unlock()
	out := e.out(v.session)
	line := out.Idle(nil, reason, failure, a2a.JSON(meta))
	// As version 1's reply, it is written also if the bridge ends meanwhile.
	_ = v.conn.Notify(context.Background(), acp.MethodSessionUpdate, json.RawMessage(gjson.GetBytes(line, "params").Raw))
}

// waits tells an editor of version 2 that the turn waits for the user; the function that it
// returns, that it does no more.
func (v *acpView) waits(ctx context.Context) (done func()) {
	if !v.editor.v2 {
		return func() {}
	}
	v.editor.tellState(ctx, v.session, acp.StateRequiresAction)
	return func() { v.editor.tellState(context.WithoutCancel(ctx), v.session, acp.StateRunning) }
}

// tellElsewhere tells an editor of version 2 whether the task waits until the user has signed in
// somewhere.
func (v *acpView) tellElsewhere(ctx context.Context, steps []mapping.Step) {
	for i := range steps {
		s := &steps[i]
		waits := s.State == a2a.StateAuthRequired
		if !v.editor.v2 || s.Kind != mapping.StepState || waits == v.elsewhere {
			continue
		}
		state := acp.StateRunning
		if v.elsewhere = waits; waits {
			state = acp.StateRequiresAction
		}
		v.begin()
		v.editor.tellState(ctx, v.session, state)
	}
}

// withdraw tells an editor of version 2 that a question does not count any more. Not every client
// of version 1 knows that.
func (v *acpView) withdraw(id jsonrpc2.ID) {
	if v.editor.v2 {
		_ = v.conn.Notify(context.Background(), acp.MethodCancelRequest, acp.CancelRequest{RequestID: json.RawMessage(id.String())})
	}
}

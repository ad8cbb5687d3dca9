package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
)

// This file has what version 2 of ACP does otherwise than version 1. A prompt is answered when it
// has its place in the conversation, and not when its turn is over: a session's state tells that,
// and messages are replaced in place. So a prompt may wait for the one before it, and a task may
// go on when its turn is over (acp2_after.go).

// negotiate chooses the version that is spoken; for version 2 it sets version 1's members of p.
// An editor that asks for more than 2 may lack what version 2 requires. false: it has answered.
func (e *acpEditor) negotiate(c *editorRequest, p *acp.InitializeRequest) bool {
	asked, serves := p.ProtocolVersion, e.server.agent.opts.ACPVersion
	params := gjson.ParseBytes(c.raw)
	name, version := params.Get("info.name"), params.Get("info.version")
	switch {
	case e.initialized && !e.v2 || asked < acp.Version2 && serves != "2" || serves == "1":
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
			e.speak2()
		}
		return true
	}
	return false
}

// speak2 has version 2 spoken from here on.
func (e *acpEditor) speak2() {
	e.v2 = true
	for _, gone := range []string{acp.MethodAuthenticate, acp.MethodLogout, acp.MethodSessionLoad, acp.MethodSessionSetMode} {
		delete(e.methods, gone)
	}
	e.methods[acp.MethodAuthLogin], e.methods[acp.MethodAuthLogout] = e.authenticate, e.logout
	e.methods[acp.MethodSessionPrompt], e.methods[acp.MethodSteering] = decoded(e.prompt2), decoded(e.steer)
}

// capabilities2 is the answer to initialize. Abilities are marked by objects.
func (e *acpEditor) capabilities2(facts *store.CardFacts) map[string]any {
	has, title := struct{}{}, "A2A agent"
	prompt := map[string]any{"embeddedContext": has}
	session := map[string]any{"prompt": prompt, "additionalDirectories": has}
	if e.server.opts.stores() {
		session["delete"] = has
	}
	if e.server.agent.opts.ForwardMCP {
		session["mcp"] = map[string]any{"stdio": has, "http": has}
	}
	if facts != nil {
		title = facts.Name
		if facts.Image {
			prompt["image"] = has
		}
		if facts.Audio {
			prompt["audio"] = has
		}
	}
	meta := map[string]any{"steering": map[string]bool{"supported": true}}
	maps.Copy(meta, e.ownMeta(facts))
	r := map[string]any{"protocolVersion": acp.Version2, "info": acp.Implementation{Name: "a2astdio", Title: title, Version: e.server.opts.Version},
		"capabilities": map[string]any{"session": session}, "_meta": meta}
	methods := e.offeredMethods(facts)
	for i := range methods {
		m := &methods[i]
		m.MethodID, m.ID, m.Type = m.ID, "", cmp.Or(m.Type, "agent")
		if env, ok := m.Env.(map[string]string); ok {
			list := []map[string]string{}
			for _, name := range slices.Sorted(maps.Keys(env)) {
				list = append(list, map[string]string{"name": name, "value": env[name]})
			}
			m.Env = list
		}
		r["authMethods"] = methods
	}
	return r
}

// prompt2 runs a turn, once those before it are over. It is in the queue before the next message
// is read.
func (e *acpEditor) prompt2(c *editorRequest, p *acp.PromptRequest) {
	if session := e.session(c, p.SessionID); session != nil {
		e.run2(c, session, p.Prompt, func(id string) any { return map[string]string{"messageId": id} })
	}
}

// outcome is the result of a steering request: what became of the message.
func outcome(what string) any { return map[string]string{"outcome": what} }

// steer sends a message to the task of the turn that runs. Where none does, it is a prompt, if the
// editor does not want to send that itself.
func (e *acpEditor) steer(c *editorRequest, p *acp.PromptRequest) {
	session := e.session(c, p.SessionID)
	if session == nil || c.isNotification {
		return
	}
	turn := session.running()
	switch {
	case turn == nil && gjson.GetBytes(c.raw, "_meta.steering.idleBehavior").Str == acp.SteeringPrompt:
		c.reply(outcome(acp.SteeringPrompt))
		return
	case turn == nil:
		e.run2(c, session, p.Prompt, func(string) any { return outcome(acp.SteeringNewTurn) })
		return
	}
	tell := func(err error) {
		if err != nil {
			c.reply(map[string]string{"outcome": acp.SteeringFailed, "reason": e.server.agent.opts.Mask(err.Error())})
			return
		}
		out, id, prompt := e.spelling(session), e.server.agent.opts.NewID(), c.rawPrompt()
		session.recordPrompt(&out, prompt, id)
		e.send(e.server.ctx, out.Said(nil, prompt, id))
		c.reply(outcome(acp.SteeringInjected)) // before the agent's answer
	}
	e.server.spawn(func(ctx context.Context) {
		select {
		case turn.steers <- &steering{prompt: p.Prompt, tell: tell}: // which the turn tells before it is over
		case <-turn.released.Done():
			tell(errCannotSteer)
		case <-ctx.Done():
			tell(errCannotSteer)
		}
	})
}

// run2 runs the turn of a prompt, which is answered with what answer returns when the prompt has its
// place.
func (e *acpEditor) run2(c *editorRequest, session *Session, prompt []acp.ContentBlock, answer func(id string) any) {
	c.run(session, func(ctx context.Context, turn Turn) {
		asked := turn
		if err := turn.wait(ctx); err != nil {
			c.fail(acp.CodeRequestCancelled, err.Error(), "")
			if errors.Is(err, errAsked) {
				e.releaseAndWatch(turn, nil) // what the agent asks may be answered elsewhere
			} else {
				turn.Discard()
			}
			return
		}
		view, accepted := e.view(session), false
		e.tellState(ctx, session, acp.StateRunning)
		turn.accepted = func(ctx context.Context) {
			accepted = true
			view.addPrompt(ctx, c, prompt, func(id string) {
				e.server.endPrompt(asked)
				c.reply(answer(id))
			})
		}
		result, turn, err := e.converse(ctx, turn, view, e.server.ide.withOpenFile(prompt))
		switch {
		case accepted:
		case err != nil:
			c.fail(spell.ACPError(err))
		default:
			c.fail(acp.CodeRequestCancelled, errHeld.Error(), "")
		}
		e.tellEnd(view, &result, err)
		e.releaseAndWatch(turn, err)
	})
}

// tellState tells an editor of version 2 what a session does.
func (e *acpEditor) tellState(ctx context.Context, session *Session, state string) {
	if e.v2 {
		out := e.spelling(session)
		e.send(ctx, out.State(nil, state))
	}
}

// tellEnd tells an editor of version 2 why the running turn, not released yet, is over.
func (e *acpEditor) tellEnd(v *acpView, r *Result, err error) {
	if !e.v2 {
		return
	}
	update := map[string]any{"sessionUpdate": "state_update", "state": acp.StateIdle, "stopReason": r.StopReason}
	if meta := promptMeta(r); meta != nil {
		update["_meta"] = meta
	}
	if err != nil && r.StopReason != acp.StopCancelled {
		mask := e.server.agent.opts.Mask
		code, message, details := spell.ACPError(err)
		update["stopReason"] = acp.StopError
		update["error"] = map[string]any{"code": code, "message": mask(message), "data": map[string]string{"details": mask(details)}}
	}
	v.session.noteShown(true)
	// As version 1's reply, it is written also if the bridge ends meanwhile.
	_ = v.editor.server.conn.Notify(context.Background(), acp.MethodSessionUpdate, map[string]any{"sessionId": v.session.ID, "update": update})
}

// awaited is what a turn waits for, and only the user can do.
type awaited uint8

const (
	anAnswer awaited = 1 << iota
	aSignIn          // somewhere else
)

// setAwaits notes whether the turn waits for something, and tells an editor of version 2 when
// it begins to wait for the user, and when it waits for nothing any more.
func (v *acpView) setAwaits(ctx context.Context, what awaited, waits bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	before, state := v.awaits, acp.StateRunning
	if v.awaits &^= what; waits {
		v.awaits |= what
		state = acp.StateRequiresAction
	}
	if (before == 0) != (v.awaits == 0) {
		v.beforeShowLocked()
		v.editor.tellState(ctx, v.session, state)
	}
}

package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
)

// loadBatch is how much of a journal goes to the editor in one write.
const loadBatch = 64 << 10

// listSessions answers with the stored sessions with this agent, newest first.
func (e *acpEditor) listSessions(c *editorRequest, p *acp.ListSessionsRequest) {
	e.server.spawn(func(context.Context) {
		opts, list := &e.server.agent.opts, []acp.SessionInfo{}
		records, err := opts.Store.List(opts.Name, p.Cwd)
		for _, r := range records {
			list = append(list, acp.SessionInfo{SessionID: r.ID, Cwd: r.Cwd, Title: r.Title, UpdatedAt: r.UpdatedAt.UTC().Format(time.RFC3339)})
		}
		c.replyOrFail(acp.ListSessionsResponse{Sessions: list}, err)
	})
}

// deleteSession removes a stored session of this agent's, which it closes before.
func (e *acpEditor) deleteSession(c *editorRequest, p *acp.SessionRequest) {
	agent := e.server.agent
	// One that cannot be read is nobody's: it may be deleted.
	if record, err := agent.opts.Store.Get(p.SessionID); err == nil && record.Agent != agent.opts.Name {
		c.fail(acp.CodeResourceNotFound, fmt.Sprintf("editor: session/delete: session %q is another agent's: delete it there, or with a2astdio sessions delete", p.SessionID), "")
		return
	}
	// Behind its last turn, which stores what it has come to.
	e.server.dismiss(p.SessionID, true, func() {
		c.replyOrFail(struct{}{}, agent.opts.Store.Delete(p.SessionID))
	})
}

// reopen goes on with a stored session. It shows it as it was, unless the editor still has the
// conversation, and then what has happened since. In version 2 the editor says whether it has.
func (e *acpEditor) reopen(c *editorRequest, p *acp.NewSessionRequest, show bool) {
	if from := p.ReplayFrom; e.v2 && from != nil {
		if show = from.Type == "start"; !show {
			c.fail(acp.CodeInvalidParams, fmt.Sprintf("editor: %s: replayFrom must be of type start, and not %q", c.method, from.Type), "")
			return
		}
	}
	s := e.server
	s.mu.Lock()
	session, before := s.sessions[p.SessionID], s.dismissed[p.SessionID]
	s.mu.Unlock()
	known := session != nil
	if !known {
		if session = e.restore(c, p, before != nil && before.deleted); session == nil {
			return
		}
	}
	if known && !c.checkDirectories(&acp.NewSessionRequest{SessionID: p.SessionID, AdditionalDirectories: p.AdditionalDirectories}) {
		return // a session keeps its directory, so a failed one is not replaced
	}
	// Prompts wait until the past is there.
	turn, err := session.beginLoaded()
	if err != nil {
		c.fail(acp.CodeInvalidRequest, busyText, "")
		return
	}
	session.setAdditional(p.AdditionalDirectories)
	s.runTurn(turn, func(ctx context.Context) {
		if !known && before != nil {
			before.done.Wait()
			if r, err := s.agent.opts.Store.Get(session.ID); err == nil { // else it begins where it stood when it was restored
				session.takeRecord(r)
			}
		}
		goesOn, err := e.showJournal(ctx, session, show, !known)
		if err != nil {
			if !known { // nor is it open now
				s.dismiss(session.ID, false, func() {})
			}
			turn.Discard()
			c.replyOrFail(nil, err)
			return
		}
		state := acp.StateRunning
		if !goesOn {
			state = acp.StateIdle
			session.noteShown(true) // the next prompt may be here before the turn is released
		}
		e.tellState(ctx, session, state)
		c.reply(e.opened(session, ""))
		e.offerCommands(session)
		if !goesOn || ctx.Err() != nil { // the bridge ends: a later process goes on
			e.releaseAndWatch(turn, nil)
			return
		}
		view := e.view(session)
		var result Result
		if turn.isCancelled() { // meanwhile: no request of the turn's has told the agent
			result, err = turn.cancelLeftTask(ctx, session.taskID, view)
		} else if result, err = turn.goOn(ctx, view); err != nil {
			s.agent.opts.Log.Debug("following the session's task", "session", session.ID, "err", err)
			session.tellEnded(ctx, view, endedInTurn+err.Error())
		}
		e.tellEnd(view, &result, err)
		e.releaseAndWatch(turn, err)
	})
}

// restore opens a stored session. If it cannot, it answers with an error, and returns nil.
func (e *acpEditor) restore(c *editorRequest, p *acp.NewSessionRequest, deleted bool) *Session {
	s := e.server
	record, err := s.agent.opts.Store.Get(p.SessionID)
	if err == nil && deleted {
		err = store.ErrNoSession
	}
	if err != nil || record.Agent != s.agent.opts.Name {
		text := fmt.Sprintf("editor: %s: no session %q is stored for this agent: open one with session/new", c.method, p.SessionID)
		if err != nil && !errors.Is(err, store.ErrNoSession) {
			text = err.Error()
		}
		e.noSession(c, text, p.SessionID)
		return nil
	}
	if !c.checkDirectories(p) {
		return nil
	}
	record.Cwd = cmp.Or(p.Cwd, record.Cwd)
	s.ide.open(record.Cwd)
	session := s.agent.restore(record)
	if !e.admit(c, session, p) {
		return nil
	}
	return session
}

// showJournal shows what the journal has of a session, if show says so. isNew: the session learns it,
// and what the task has said since is shown; goesOn: that is to be followed.
func (e *acpEditor) showJournal(ctx context.Context, session *Session, show, isNew bool) (goesOn bool, err error) {
	var batch []byte
	var sink func(steps []mapping.Step, line []byte) error
	if show {
		out := e.turnSpelling(session)
		out.Notices = false
		sink = func(steps []mapping.Step, line []byte) error {
			if batch = out.Append(batch, steps); steps == nil { // the user's words
				session.places.Turn()
				batch = append(append(batch, line...), '\n')
			}
			if len(batch) < loadBatch {
				return nil
			}
			err := e.server.out.Send(ctx, batch)
			batch = batch[:0]
			return err
		}
	}
	err = session.readJournal(isNew, sink)
	if err == nil && len(batch) > 0 {
		err = e.server.out.Send(ctx, batch)
	}
	return err == nil && isNew && session.catchUp(ctx, e.view(session)), err
}

// view is the editor as a turn of this session sees it.
func (e *acpEditor) view(session *Session) *acpView {
	session.keepJournal()
	v := &acpView{editor: e, session: session, out: e.turnSpelling(session)}
	v.out.Terminal, v.out.Made = e.can.output, e.server.agent.made()
	return v
}

// turnSpelling spells what is said in a session's turns.
func (e *acpEditor) turnSpelling(session *Session) spell.ACP {
	out := e.spelling(session)
	if out.Cwd = session.Cwd; e.v2 {
		out.V2 = &session.places
	}
	return out
}

// spelling spells updates about a session that belong to none of its turns.
func (e *acpEditor) spelling(session *Session) spell.ACP {
	out := spell.ACP{Session: session.ID, Notices: e.can.notices, RunsTogether: e.can.runsTogether}
	if e.v2 {
		out.V2 = new(spell.Places)
	}
	return out
}

// opened is the result of the requests that open a session. id is "" where the editor knows it.
func (e *acpEditor) opened(session *Session, id string) acp.NewSessionResponse {
	r := acp.NewSessionResponse{SessionID: id, ConfigOptions: e.configOptions(session)}
	if !e.v2 {
		r.Modes = modes(session)
	}
	return r
}

// noSession answers with an error that there is no such session.
func (e *acpEditor) noSession(c *editorRequest, text, id string) {
	err := &jsonrpc2.Error{Code: acp.CodeResourceNotFound, Message: text}
	if e.v2 {
		err.SetError(map[string]string{"sessionId": id})
	}
	c.failWith(err)
}

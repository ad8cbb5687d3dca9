package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file finds agents by their names, and conversations by their handles.

// agentNames are those of [Options.Agents]; without, there is the server's alone.
func (e *mcpEditor) agentNames() ([]string, error) {
	if agents := e.server.opts.Agents; agents != nil {
		return agents.Names()
	}
	return []string{"agent"}, nil
}

// openAgent returns an agent, which is contacted when it is used, and its name; "" is the first's.
func (e *mcpEditor) openAgent(ctx context.Context, name string) (*Agent, string, error) {
	names, err := e.agentNames()
	if err != nil {
		return nil, "", err
	}
	name = cmp.Or(name, names[0])
	if !slices.Contains(names, name) {
		return nil, "", paramsErrorf("there is no agent %q: there are %s", name, strings.Join(names, ", "))
	}
	agent, agents := e.server.agent, e.server.opts.Agents
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case e.openingAgent <- struct{}{}:
		defer func() { <-e.openingAgent }()
		if agents != nil {
			agent, err = agents.Open(ctx, name)
		} else {
			err = e.server.findAgent(ctx)
		}
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("agent: %s was not ready in time: try it again later, or tell the user, to whom a2astdio doctor says why", name)
	}
	return agent, name, err
}

// conversation is the one that a call is about: that whose question it answers, or that of its
// handle. send_message without a handle begins one.
func (e *mcpEditor) conversation(c *mcpCall) (*mcpTalk, error) {
	handle := c.argument("handle")
	switch {
	case c.bringsAnswer():
		t, err := e.find(c.ctx, beforeDot(c.params.Get("requestState").Str))
		if err != nil {
			err = errors.New(noQuestion + "list_agents has the tasks that are under way")
		}
		return t, err
	case handle != "" || c.params.Get("name").Str != "send_message":
		return e.find(c.ctx, handle)
	}
	agent, name, err := e.openAgent(c.ctx, c.argument("agent"))
	if err != nil {
		return nil, err
	}
	session := agent.NewSession(agent.opts.workspace())
	session.ID = name + "." + session.ID
	return e.newTalk(session), nil
}

// beforeDot is what stands before the last dot: of a handle the agent's name, of a question's state
// the handle.
func beforeDot(s string) string { return s[:max(0, strings.LastIndexByte(s, '.'))] }

// add enters a conversation, for as long as the process lives.
func (e *mcpEditor) add(t *mcpTalk) error {
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	if _, known := e.talks.Load(t.session.ID); !known {
		if e.talkCount == maxSessions {
			return fmt.Errorf("bridge: there are %d conversations, which is the limit: the user starts the client anew. Handles stay good", maxSessions)
		}
		e.talkCount++
	}
	e.talks.Store(t.session.ID, t)
	return nil
}

// find finds a conversation by its handle, that of an earlier process, too.
func (e *mcpEditor) find(ctx context.Context, handle string) (*mcpTalk, error) {
	if t, ok := e.talks.Load(handle); ok {
		return t.(*mcpTalk), nil
	}
	agent, name, err := e.openAgent(ctx, beforeDot(handle))
	if err != nil {
		return nil, err
	}
	e.restoring.Lock()
	defer e.restoring.Unlock()
	if t, ok := e.talks.Load(handle); ok {
		return t.(*mcpTalk), nil // another call was faster
	}
	record, err := agent.opts.Store.Get(handle)
	if errors.Is(err, store.ErrNoSession) || err == nil && (record.Agent != agent.opts.Name || !strings.HasPrefix(handle, name+".")) { // such as an editor's session
		err = paramsErrorf("there is no handle %q: send_message returns one, and list_agents has those that are under way", handle)
	}
	if err != nil {
		return nil, err
	}
	t := e.newTalk(agent.restore(record))
	return t, t.restore()
}

// restore loads a conversation of an earlier process, looks what has come of its task,
// and follows that. The mode is what this process was started with.
func (t *mcpTalk) restore() error {
	s := t.session
	s.approvals.mode = s.agent.opts.Mode
	err := s.readJournal(true, func(steps []mapping.Step, _ []byte) error {
		if steps == nil || steps[0].Kind == mapping.StepUnknown { // a prompt, or what was taken: what follows is new
			t.out.Forget()
			return nil
		}
		t.out.Append(steps)
		return nil
	})
	if err != nil {
		return err
	}
	s.keepJournal()
	t.journal = s.journal
	goesOn := s.catchUp(t.editor.server.ctx, t)
	state := s.fold.State
	if s.taskID == "" {
		state = cmp.Or(state, s.ended)
	}
	t.out.Task = cmp.Or(s.taskID, strings.Join(s.previous, ""))
	if t.result.State = state; state == a2a.StateInputRequired {
		_, w, err := s.agent.Ready(t.editor.server.ctx) // catchUp has had it
		t.result.Waits = err != nil || s.leavesWaiting(w)
	}
	if goesOn || s.taskID != "" && (state == "" || state == a2a.StateWorking) {
		t.err = errors.New("agent: it cannot be asked what has become of the task")
	}
	if err := t.editor.add(t); err != nil {
		s.shut()
		return err
	}
	if goesOn {
		return t.goOn(false)
	}
	return nil
}

// detachAll, at the process's end, cancels what a call waits for, and leaves the other tasks
// to their agents: the next process finds them.
func (e *mcpEditor) detachAll() {
	e.talks.Range(func(_, value any) bool {
		t := value.(*mcpTalk)
		if !t.waiting.TryLock() { // its call has yet to note what it takes
			t.cancel()
			return true
		}
		t.session.shut()
		if detach := t.now().detach; detach != nil {
			detach(errDetached)
		}
		return true
	})
}

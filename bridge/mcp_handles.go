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

// Agents are those that an MCP client may choose from. Names may be called from several
// goroutines, also while Open runs.
type Agents interface {
	// Names lists them, at least one, and the one first that is asked where none is named. An error tells the
	// user what is wrong with the set-up.
	Names() ([]string, error)
	// Open returns one of them, the same each time, which the bridge does not close. It is asked for
	// one at a time, and again after an error.
	Open(ctx context.Context, name string) (*Agent, error)
}

// onlyAgent is the server's, where there are no others.
type onlyAgent struct{ *server }

func (onlyAgent) Names() ([]string, error) { return []string{"agent"}, nil }

func (s onlyAgent) Open(ctx context.Context, _ string) (*Agent, error) {
	return s.agent, s.findAgent(ctx)
}

// agentOf returns an agent by its name, which is contacted when it is used. "" is the first.
func (e *mcpEditor) agentOf(ctx context.Context, name string) (*Agent, string, error) {
	names, err := e.agents.Names()
	if err != nil {
		return nil, "", err
	}
	name = cmp.Or(name, names[0])
	if !slices.Contains(names, name) {
		return nil, "", paramsErrorf("there is no agent %q: there are %s", name, strings.Join(names, ", "))
	}
	e.opening.Lock()
	defer e.opening.Unlock()
	agent, err := e.agents.Open(ctx, name)
	return agent, name, err
}

// begin begins a conversation with an agent.
func (e *mcpEditor) begin(ctx context.Context, name string) (*mcpTalk, error) {
	agent, name, err := e.agentOf(ctx, name)
	if err != nil {
		return nil, err
	}
	session := agent.NewSession(agent.opts.workspace())
	session.ID = name + "." + session.ID
	return e.newTalk(agent, name, session), nil
}

// add enters a conversation.
func (e *mcpEditor) add(t *mcpTalk) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.talks[t.session.ID] == nil && len(e.talks) >= maxSessions {
		return fmt.Errorf("bridge: there are %d conversations, which is the limit: the user starts the client anew. Handles stay good", maxSessions)
	}
	e.talks[t.session.ID] = t
	return nil
}

func (e *mcpEditor) talk(handle string) *mcpTalk {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.talks[handle]
}

// find finds a conversation by its handle, that of an earlier process, too.
func (e *mcpEditor) find(ctx context.Context, handle string) (*mcpTalk, error) {
	if t := e.talk(handle); t != nil {
		return t, nil
	}
	agent, name, err := e.agentOf(ctx, handle[:max(0, strings.LastIndexByte(handle, '.'))])
	if err != nil {
		return nil, err
	}
	e.opening.Lock()
	defer e.opening.Unlock()
	if t := e.talk(handle); t != nil {
		return t, nil // another call was faster
	}
	record, err := agent.opts.Store.Get(handle)
	if errors.Is(err, store.ErrNoSession) || err == nil && (record.Agent != agent.opts.Name || !strings.HasPrefix(handle, name+".")) { // such as an editor's session
		err = paramsErrorf("there is no handle %q: send_message returns one, and list_agents has those that are under way", handle)
	}
	if err != nil {
		return nil, err
	}
	t := e.newTalk(agent, name, agent.restore(record))
	return t, t.restore()
}

// restore goes on with a conversation of an earlier process: it looks what has come of its task,
// and follows it. The mode is what this process was started with.
func (t *mcpTalk) restore() error {
	s := t.session
	s.approvals.mode = t.agent.opts.Mode
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
	goesOn := s.catchUp(t.editor.server.ctx, t)
	state := s.fold.State
	t.out.Task = cmp.Or(s.taskID, strings.Join(s.previous, ""))
	t.result = Result{State: state, Waits: state == a2a.StateInputRequired}
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

// isOpen reports whether a conversation has something that wait_task brings.
func (t *mcpTalk) isOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.detach != nil || t.out.Size() > 0
}

// leave ends what a call waits for, and leaves the other tasks to their agents: the next
// process finds them.
func (e *mcpEditor) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range e.talks {
		if !t.awaited.TryLock() { // its call has yet to note what it takes
			t.stop()
			continue
		}
		t.session.shut()
		t.mu.Lock()
		if t.detach != nil {
			t.detach(errDetached)
		}
		t.mu.Unlock()
	}
}

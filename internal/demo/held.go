package demo

import (
	"cmp"
	"slices"
)

// This file coordinates processes that store their tasks in one place.

// task returns a task in its current state, which another process may have changed; nil
// if there is none.
func (a *Agent) task(id string) *task {
	a.mu.Lock()
	t := a.tasks[id]
	a.mu.Unlock()
	if a.keeper == nil || t != nil && t.isHeld() {
		return t
	}
	k := a.keeper.read(id)
	if k == nil {
		return t
	}
	if !k.rests() {
		k = a.bury(k)
	}
	if t != nil && t.isAt(k.Rev) {
		return t
	}
	return a.adopt(k)
}

// rests reports whether the task needs no process.
func (k *keptTask) rests() bool { return terminal(k.State) || k.State == stateInputRequired }

// bury ends a task whose process has ended during its story.
func (a *Agent) bury(k *keptTask) *keptTask {
	unlock, free := a.keeper.lock(k.ID)
	if !free {
		return k
	}
	now := a.keeper.read(k.ID)
	if now == nil || now.rests() { // another process was faster
		unlock()
		return cmp.Or(now, k)
	}
	t := a.adopt(now)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unlock = unlock
	t.append(event{state: stateFailed, kind: kindStateChange, final: true,
		message: t.text(t.messageID(), "the a2astdio that this task ran in has ended: the agent that is built in ends with its command", everyone)})
	return t.kept(a.saved.all())
}

// change passes a task to f, which changes it. No other process changes the task until
// it rests.
func (a *Agent) change(id string, f func(*task) error) (*task, error) {
	if a.keeper != nil {
		a.changing.Lock()
		defer a.changing.Unlock()
	}
	t := a.task(id)
	if t == nil {
		return nil, notFound(id)
	}
	if a.keeper != nil && !t.isHeld() && a.keeper.read(id) != nil {
		unlock, free := a.keeper.lock(id)
		if !free {
			return nil, underWay(id)
		}
		if t = a.task(id); t == nil || t.working() { // read it again: only now nobody else changes it
			unlock()
			return nil, underWay(id)
		}
		t.mu.Lock()
		t.unlock = unlock
		t.mu.Unlock()
		defer t.letGo()
		if err := a.wake(t); err != nil {
			t.give(err)
		}
	}
	return t, f(t)
}

func underWay(id string) error {
	return &rpcError{Code: codeUnsupported, Message: "task " + id + " is under way in another a2astdio: what is built in works in the command that has begun it"}
}

func (t *task) isHeld() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.unlock != nil
}

func (t *task) isAt(rev int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rev == rev
}

func (t *task) working() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state != stateInputRequired && !terminal(t.state)
}

// letGo releases a resting task to other processes.
func (t *task) letGo() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rest()
}

// rest is letGo for a caller that holds mu.
func (t *task) rest() {
	if t.unlock != nil && (terminal(t.state) || t.state == stateInputRequired) {
		t.unlock()
		t.unlock = nil
	}
}

// give ends a task with an error.
func (t *task) give(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.run, t.pause, t.dormant = nil, nil, nil
	t.append(event{state: stateFailed, kind: kindStateChange, final: true, message: t.text(t.messageID(), err.Error(), everyone)})
}

// save stores the task. The caller holds mu.
func (t *task) save() {
	if t.keeper == nil || t.unlock == nil {
		return
	}
	t.rev++
	t.keeper.write(t.kept(t.saved.all()))
}

// begin makes this process the holder of a new task.
func (t *task) begin() {
	if t.keeper.place() == "" {
		return
	}
	if unlock, free := t.keeper.lock(t.id); free {
		t.unlock = unlock
	}
}

// superseded reports whether another process has changed a task that is followed here.
func (t *task) superseded() bool {
	t.mu.Lock()
	rev, held := t.rev, t.unlock != nil
	t.mu.Unlock()
	if held {
		return false
	}
	k := t.keeper.read(t.id)
	return k != nil && k.Rev != rev
}

// adopt takes a task from the disk, in place of the known one.
func (a *Agent) adopt(k *keptTask) *task {
	s := &session{contextID: k.Session.ContextID}
	a.mu.Lock()
	if known := a.sessions[s.contextID]; known != nil {
		s = known
	}
	a.sessions[s.contextID] = s
	a.mu.Unlock()
	s.mu.Lock()
	if s.workspace == nil {
		s.workspace = k.Session.Workspace.workspace()
	}
	s.settled = s.settled || k.Session.Settled
	s.mu.Unlock()
	s.memory.add(k.Session.Allowed)
	a.saved.add(k.Saved)

	t := a.makeTask(k.ID, s)
	k.restore(t)
	a.mu.Lock()
	defer a.mu.Unlock()
	if old := a.tasks[t.id]; old != nil {
		a.order = slices.DeleteFunc(a.order, func(t *task) bool { return t == old })
		old.forget() // and with it its paused story
	}
	a.tasks[t.id] = t
	a.order = append(a.order, t)
	slices.SortStableFunc(a.order, func(a, b *task) int { return a.created.Compare(b.created) })
	return t
}

// adoptAll takes the tasks that other processes have stored.
func (a *Agent) adoptAll() {
	if a.keeper == nil {
		return
	}
	for _, id := range a.keeper.ids() {
		a.task(id)
	}
}

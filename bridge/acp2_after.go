package bridge

import (
	"context"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for a task that its turn has left: it works on though the connection was lost, it
// waits until somebody has signed in, or for an answer that another program may give. What it says
// then is a turn of its own, which the editor sees by the session's state. A session has one
// watcher at most, and none while a turn runs, or when it is closed.

// releaseAndWatch releases a turn that has ended with err and, for an editor of version 2, has its
// task watched if that goes on.
func (e *acpEditor) releaseAndWatch(turn Turn, err error) {
	s := turn.session
	w := &watcher{session: s, task: s.taskID, rest: s.fold.Rest(s.taskID), pushes: s.pushes}
	if s.watchFails++; err == nil {
		s.watchFails = 0
	}
	asks := s.fold.State != a2a.StateInputRequired || s.fold.Question != "" || s.fold.WaitsForWords() || turn.card != nil && s.leavesWaiting(turn.writing)
	goesOn := e.v2 && w.task != "" && !s.completed && asks && !turn.isCancelled() && s.watchFails <= maxWatchFails
	if goesOn {
		s.record(nil) // what is noted is written later, and would look like another process's
		w.journalSize = s.agent.opts.Store.JournalSize(s.ID)
	}
	turn.Discard()
	if !goesOn {
		return
	}
	w.ctx, w.stop = context.WithCancel(e.server.ctx)
	s.mu.Lock()
	free := len(s.queue) == 0 && !s.shutting
	if free {
		s.unwatchLocked()
		s.watching = w
	}
	s.mu.Unlock()
	switch {
	case !free:
		w.stop()
	case !e.server.spawn(func(ctx context.Context) { e.watch(ctx, w) }): // ends with w.ctx
		s.unwatch()
		if turn, _, ok := w.beginTurn(false); ok {
			turn.Discard()
		}
	}
}

// watch waits until the task has moved, or is to be cancelled, and runs that turn.
func (e *acpEditor) watch(ctx context.Context, w *watcher) {
	defer w.stop()
	w.pushes.collect()
	state, moved := w.awaitMove(e.server.out.InputDone())
	turn, cancelled, ok := w.beginTurn(moved)
	if !ok {
		return
	}
	view := e.view(w.session)
	journals := w.alone()
	begun := cancelled
	var result Result
	var err error
	if cancelled {
		result, err = turn.cancelLeftTask(ctx, w.task, view)
	} else {
		view.beforeShow = func() {
			begun = true
			w.session.noteShown(false)
			e.tellState(ctx, w.session, acp.StateRunning)
		}
		if state != w.rest.State { // what does not change the state may say nothing
			view.beforeShowLocked() // nobody else has it yet
		}
		result, err = turn.goOn(ctx, view)
	}
	if begun || err != nil {
		e.tellEnd(view, &result, err)
	}
	journals()
	e.releaseAndWatch(turn, err)
}

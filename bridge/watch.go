package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file waits for a task that its turn has left, between turns.

const (
	// firstWatch is when the task is looked at first; each further time is twice as long, up to
	// maxWatch. A push is looked at once.
	firstWatch = time.Second
	maxWatch   = 30 * time.Second
	// maxWatchFails is how many times in a row the task may be lost again: then the next prompt
	// finds out what became of it.
	maxWatchFails = 3
)

// A watcher waits for the task of a session between turns.
type watcher struct {
	session     *Session
	task        string
	rest        mapping.Rest // how it was left; the zero value if it works
	pushes      *pushFeed
	journalSize int64 // of the journal, in bytes
	ctx         context.Context
	stop        context.CancelFunc
	cancels     *turn // the one in which the editor has cancelled the task; the session's mu guards it
}

// unwatchLocked ends the session's watcher.
func (s *Session) unwatchLocked() {
	if s.watching != nil {
		s.watching.stop()
		s.watching = nil
	}
}

// unwatch ends the session's watcher, and returns its task, if that was left at work.
func (s *Session) unwatch() (atWork string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.watching; w != nil && w.rest.State == "" {
		atWork = w.task
	}
	s.unwatchLocked()
	return atWork
}

// beginTurn begins a turn for a task that has moved, or returns the one that cancels it, and ends
// the watch; not ok: it has not moved, or is not watched any more, or another turn has begun.
func (w *watcher) beginTurn(moved bool) (turn Turn, cancels, ok bool) {
	s := w.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.cancels != nil {
		return Turn{w.cancels}, true, true
	}
	if s.watching != w {
		return Turn{}, false, false
	}
	if s.watching = nil; !moved || len(s.queue) > 0 {
		return Turn{}, false, false
	}
	t := s.addTurnLocked()
	t.endShown = true // until it shows anything: see noteShown
	return Turn{t}, false, true
}

// alone has nothing put into the journal, until the function that it returns is called, if another
// process has put anything there since the turn has left the task: that one keeps its words.
func (w *watcher) alone() (end func()) {
	s := w.session
	journal := s.journal
	if s.agent.opts.Store.JournalSize(s.ID) == w.journalSize {
		return func() {}
	}
	s.journal = nil
	return func() { s.journal = journal }
}

// awaitMove waits until the task stands otherwise than it was left; not ok: it is not watched any
// more. That ends with the editor's input, which no prompt is behind. A task that cannot be looked
// at can still be cancelled.
func (w *watcher) awaitMove(inputDone <-chan struct{}) (state a2a.State, ok bool) {
	client := w.session.agent.opts.Client
	timer := time.NewTimer(firstWatch)
	defer timer.Stop()
	for pause := firstWatch; ; {
		select {
		case <-timer.C:
		case <-w.pushes.waked():
			w.pushes.collect()
		case <-client.Exited():
			return "", false
		case <-inputDone:
			return "", false
		case <-w.ctx.Done():
			return "", false
		}
		now, err := client.Get(w.ctx, w.task, 0)
		if err == nil && !w.rest.RepeatedBy(now) {
			return now.State, true
		}
		if pause = min(2*pause, maxWatch); err == nil || !isLasting(err) {
			timer.Reset(pause)
		}
	}
}

// cancelLeftTask cancels the task that the session's last turn has left, and shows what the
// agent says to that. It is in place of run.
func (t Turn) cancelLeftTask(ctx context.Context, task string, editor Editor) (Result, error) {
	t.editor = editor
	waiting, stop := context.WithTimeout(ctx, cancelGrace)
	defer stop()
	answer, why := t.agent.cancelTask(waiting, task, "the editor has cancelled it")
	t.fold.SetTask(task)
	var steps []mapping.Step
	if answer != nil {
		steps = t.fold.Event(shown.Live, asStatus(answer), nil)
	}
	err := editor.Show(ctx, t.fold.EndTurn(true, false, steps))
	t.session.record(spell.EndLine(nil, a2a.StateCanceled)) // of the turn that has left it, if that had none
	t.session.dropTask()
	t.session.save()
	return Result{StopReason: acp.StopCancelled, State: a2a.StateCanceled, TaskID: task}, errors.Join(err, t.tellStillRuns(ctx, why))
}

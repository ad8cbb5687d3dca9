package bridge

import (
	"context"
	"time"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// learnTime is how long a prompt may wait for what its task has said before.
const learnTime = 5 * time.Second

// learn gets what a task has said in another process, before the session goes on with
// it. Agents may begin their answer with the whole task, of which only the new part is
// to be shown. Where the agent cannot be asked, old text may be shown again: that is
// better than showing nothing.
func (t *turn) learn(ctx context.Context, taskID string) {
	s := t.session
	if !s.unseen || taskID == "" || taskID != s.taskID {
		return
	}
	s.unseen = false
	ctx, stop := context.WithTimeout(ctx, learnTime)
	defer stop()
	task, err := t.agent.opts.Client.Get(ctx, taskID, allHistory)
	if err != nil {
		t.agent.opts.Log.Debug("looking for what the task has said", "task", taskID, "err", err)
		return
	}
	if task.State == a2a.StateInputRequired || task.State == a2a.StateAuthRequired || task.State.Terminal() {
		t.fold.SetTask(taskID)
		t.fold.Speak(t.writing.Dialect)
		t.fold.Event(task, nil)
	}
}

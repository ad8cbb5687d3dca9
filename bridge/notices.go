package bridge

import (
	"context"
	"slices"

	"github.com/a2astdio/a2astdio/mapping"
)

// This file has what the bridge itself says in a conversation before a turn.

// openingNotices are what the user is to know before the turn begins.
func (t *turn) openingNotices() (notices []mapping.Step) {
	if t.session.wasRestarted() {
		notices = append(notices, mapping.Step{Kind: mapping.StepNotice, Text: restartedNotice})
		t.session.anew, t.lossTold = false, true
	}
	if t.session.anew {
		t.session.anew = false
		notices = append(notices, mapping.Step{Kind: mapping.StepNotice, Text: anewNotice})
	}
	if text := t.session.modeNotice(); text != "" {
		notices = append(notices, mapping.Step{Kind: mapping.StepNotice, Text: text})
	}
	if text := t.session.unkeptNotice(); text != "" {
		notices = append(notices, mapping.Step{Kind: mapping.StepNotice, Text: text + "\n"})
	}
	if t.session.approvals.tellYolo() {
		notices = append(notices, mapping.Step{Kind: mapping.StepNotice, Text: yoloNotice})
	}
	return notices
}

const (
	// lostNotice is shown for an agent that has forgotten the conversation.
	lostNotice = "[The agent does not know this conversation any more: it begins anew. What was said before is not known to it.]\n\n"
	// taskLostNotice is shown for an agent that has forgotten a task, and perhaps the
	// conversation.
	taskLostNotice = "[The agent does not know the task of this conversation any more, and begins another one. It may not know what was said before.]\n\n"
	// otherContextNotice is shown for an agent that answers in another context.
	otherContextNotice = "[The agent has answered in a conversation of another name, so that it may not know what was said before.]\n\n"
)

// tellLost tells that the agent refuses the context of the conversation, unless a
// notice about its task, in the same turn, has said the same.
func (t *turn) tellLost(ctx context.Context) error {
	told := t.lossTold
	t.lossTold, t.session.lossTold = true, true
	if told {
		return nil
	}
	return t.editor.Show(ctx, []mapping.Step{{Kind: mapping.StepNotice, Text: lostNotice}})
}

// tellTaskLost tells that the agent has refused a message because it does not know its
// task. Of completed tasks it tells once: some agents keep none of those.
func (t *turn) tellTaskLost(ctx context.Context) error {
	s := t.session
	told := t.lossTold || s.completed && s.lossTold
	t.lossTold, s.lossTold = true, true
	if told {
		return nil
	}
	text := taskLostNotice
	if t.writing.Traits().TaskIsConversation {
		text = lostNotice
	}
	return t.editor.Show(ctx, []mapping.Step{{Kind: mapping.StepNotice, Text: text}})
}

// tellOtherContext adds a notice that the agent has answered in another context than
// the one that it had named before. It does so once: some agents have a new context for
// each task.
func (t *turn) tellOtherContext(steps []mapping.Step) []mapping.Step {
	was, is := t.askedContext, t.fold.ContextID
	if was == "" || is == was {
		return steps
	}
	t.askedContext = ""
	told := t.lossTold || t.session.lossTold
	t.lossTold, t.session.lossTold = true, true
	if told {
		return steps
	}
	return slices.Insert(steps, 0, t.notice(otherContextNotice))
}

// anewNotice is for agents that keep a conversation in the task that was
// cancelled.
const anewNotice = "[The agent begins anew: it kept the conversation in the task that was cancelled.]\n\n"

// yoloNotice says once a session what the mode yolo means.
const yoloNotice = "[Mode yolo: whatever the agent asks for is allowed without asking you.]\n\n"

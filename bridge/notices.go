package bridge

import (
	"context"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has what the bridge itself says in a conversation.

// openingNotices are what the user is to know before the turn begins.
func (t *turn) openingNotices() (notices []mapping.Step) {
	s := t.session
	say := func(text string) { notices = append(notices, mapping.Step{Kind: mapping.StepNotice, Text: text}) }
	switch {
	case s.wasRestarted():
		say(restartedNotice)
		t.lossTold = true
	case s.anew:
		say(anewNotice)
	}
	s.anew = false
	if text := s.unkeptNotice(); text != "" {
		say(text + "\n")
	}
	if s.approvals.tellYolo() {
		say(yoloNotice)
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

// loss is a notice that the agent may have lost the conversation, unless the user knows that: by
// another notice in the same turn, or in the session, if that is enough.
func (t *turn) loss(step mapping.Step, enough bool) []mapping.Step {
	told := t.lossTold || enough && t.session.lossTold
	t.lossTold, t.session.lossTold = true, true
	if told {
		return nil
	}
	return []mapping.Step{step}
}

// tellLost tells that the agent refuses the context of the conversation, or does not know its task
// any more. Of completed tasks it tells once: some agents keep none of those.
func (t *turn) tellLost(ctx context.Context, ofTask bool) error {
	text := lostNotice
	if ofTask && !t.writing.Traits().TaskIsConversation {
		text = taskLostNotice
	}
	steps := t.loss(mapping.Step{Kind: mapping.StepNotice, Text: text}, ofTask && t.session.completed)
	if len(steps) == 0 {
		return nil
	}
	return t.editor.Show(ctx, steps)
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
	return append(t.loss(t.notice(otherContextNotice), true), steps...)
}

// anewNotice is for agents that keep a conversation in the task that was
// cancelled.
const anewNotice = "[The agent begins anew: it kept the conversation in the task that was cancelled.]\n\n"

// yoloNotice says once a session what the mode yolo means.
const yoloNotice = "[Mode yolo: whatever the agent asks for is allowed without asking you.]\n\n"

// silences returns after which times a silence is reported: first so soon that the
// program does not seem stuck, then less often. A legal agent may be silent for minutes
// (Gemini's server was for 198 s), so silence alone ends nothing.
func silences(told int) time.Duration {
	switch told {
	case 0:
		return 10 * time.Second
	case 1:
		return 30 * time.Second
	}
	return time.Duration(told-1) * time.Minute
}

// A silence measures for how long a leg has brought nothing. It belongs to the turn's
// loop, which stops it.
type silence struct {
	timer *time.Timer
	told  int
}

// heard restarts the measurement.
func (s *silence) heard() {
	s.told = 0
	s.timer.Reset(silences(0))
}

// tellSilence reports a silence to editors that can show it in passing: A2A lines and
// send. ACP's editors show that a turn runs. A connection that is down is reported
// instead.
func (t *turn) tellSilence(ctx context.Context, s *silence) error {
	after := silences(s.told)
	s.told++
	s.timer.Reset(silences(s.told) - after)
	if t.down || t.isCancelled() {
		return nil
	}
	return t.editor.Show(ctx, []mapping.Step{{Kind: mapping.StepConnection, TaskID: t.fold.TaskID, ContextID: t.fold.ContextID,
		Connection: mapping.Connection{Phase: mapping.PhaseSilent, Silent: int(after / time.Second)}}})
}

// startingWait is after how long the user is told what is being started, the agent or its
// MCP servers: a quick start needs no notice.
const startingWait = 5 * time.Second

// What a user hears of the life of an agent that is started for him.
const (
	startingNotice  = "[The agent is being started.]\n\n"
	restartedNotice = "[The agent had ended, and was started again. It may not know what was said before.]\n\n"
)

// reach is [Agent.Ready], with one notice that the agent is being started if that takes
// time.
func (t *turn) reach(ctx context.Context) (*a2a.Card, dialect.Writing, error) {
	t.agent.opts.Client.Revive()
	if !t.agent.opts.Client.Starting() {
		return t.agent.Ready(ctx)
	}
	var card *a2a.Card
	var writing dialect.Writing
	var err error
	if told := t.waitFor(ctx, startingNotice, func() { card, writing, err = t.agent.Ready(ctx) }); told != nil {
		return nil, dialect.Writing{}, told
	}
	return card, writing, err
}

// waitFor does what may take time, and says so, once, if it does. The error is the editor's.
func (t *turn) waitFor(ctx context.Context, notice string, do func()) (err error) {
	told := make(chan struct{})
	timer := time.AfterFunc(startingWait, func() {
		err = t.editor.Show(ctx, []mapping.Step{{Kind: mapping.StepNotice, Text: notice, Harmless: true}})
		close(told)
	})
	if do(); !timer.Stop() {
		<-told
	}
	return err
}

// wasRestarted reports, once, whether the agent's process is not the one that the
// conversation began with.
func (s *Session) wasRestarted() bool {
	life := s.agent.opts.Client.Exited()
	was := s.life
	s.life = life
	return was != nil && was != life && (s.contextID != "" || s.taskID != "")
}

package bridge

import (
	"cmp"
	"context"
	"sync"
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
	case s.agentRestarted():
		say(restartedNotice)
		t.forgottenTold = true
	case s.lostConversation:
		say(anewNotice)
	}
	s.lostConversation = false
	if text := s.unkeptNotice(); text != "" {
		say(text + "\n")
	}
	if s.Mode() == ModeYolo && s.firstTime(ofYolo) {
		say(yoloNotice)
	}
	return notices
}

// A onceNotice is what a user is told once in a session.
type onceNotice uint8

const (
	ofForgotten onceNotice = 1 << iota // the agent may have lost the conversation
	ofCut                              // what a cut costs
	ofServers                          // the agent has not got the editor's MCP servers
	ofYolo
	ofStore // the conversation is not kept
)

// firstTime notes that the user is told something; false: that was done before.
func (s *Session) firstTime(what onceNotice) bool {
	isNew := s.noticesShown&what == 0
	s.noticesShown |= what
	return isNew
}

// forgottenNotice is for an agent that has forgotten the conversation or its task, or answers in
// another conversation.
const forgottenNotice = "[The agent begins another conversation, or another task: it may not know what was said before.]\n\n"

// mayTellForgotten reports whether forgottenNotice is to be shown, and notes that it is: once in a
// turn, or oncePerSession.
func (t *turn) mayTellForgotten(oncePerSession bool) bool {
	known := !t.session.firstTime(ofForgotten) && oncePerSession || t.forgottenTold
	t.forgottenTold = true
	return !known
}

// tellForgotten shows forgottenNotice: the agent refuses the context of the conversation, or does
// not know its task any more. Of completed tasks that is told once: some agents keep none of those.
func (t *turn) tellForgotten(ctx context.Context, ofTask bool) error {
	if !t.mayTellForgotten(ofTask && t.session.completed) {
		return nil
	}
	return t.editor.Show(ctx, []mapping.Step{{Kind: mapping.StepNotice, Text: forgottenNotice}})
}

// tellOtherContext puts forgottenNotice before steps if the agent has answered in another context
// than the one that it had named before. It does so once: some agents have a new context for
// each task.
func (t *turn) tellOtherContext(steps []mapping.Step) []mapping.Step {
	was, is := t.askedContext, t.fold.ContextID
	if was == "" || is == was {
		return steps
	}
	t.askedContext = ""
	if !t.mayTellForgotten(true) {
		return steps
	}
	return append([]mapping.Step{t.notice(forgottenNotice)}, steps...)
}

// anewNotice is for agents that keep a conversation in the task that was
// cancelled.
const anewNotice = "[The agent begins anew: it kept the conversation in the task that was cancelled.]\n\n"

// yoloNotice says once a session what the mode yolo means.
const yoloNotice = "[Mode yolo: whatever the agent asks for is allowed without asking you.]\n\n"

// firstSilence is after what time a silence is reported, so soon that the program does not seem stuck;
// then each time when it has lasted twice as long. A legal agent may be silent for minutes
// (Gemini's server was for 198 s), so silence alone ends nothing.
const firstSilence = 10 * time.Second

// tellSilence reports a silence to editors that can show it in passing: A2A lines and
// send. ACP's editors show that a turn runs. A connection that is down is reported
// instead.
func (t *turn) tellSilence(ctx context.Context, after time.Duration) error {
	if t.view == lostView || t.isCancelled() {
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

// contact is [Agent.Ready], with one notice that the agent is being started if that takes
// time.
func (t *turn) contact(ctx context.Context) (card *a2a.Card, writing dialect.Writing, err error) {
	t.agent.opts.Client.Revive()
	if !t.agent.opts.Client.Starting() {
		return t.agent.Ready(ctx)
	}
	unshown := t.waitFor(ctx, startingNotice, func() { card, writing, err = t.agent.Ready(ctx) })
	return card, writing, cmp.Or(unshown, err)
}

// waitFor calls do, and shows a notice meanwhile if that takes time. The error is the editor's.
func (t *turn) waitFor(ctx context.Context, notice string, do func()) (err error) {
	tell := sync.OnceFunc(func() {
		err = t.editor.Show(ctx, []mapping.Step{{Kind: mapping.StepNotice, Text: notice, Harmless: true}})
	})
	timer := time.AfterFunc(startingWait, tell)
	if do(); !timer.Stop() {
		tell() // or waits until it is told
	}
	return err
}

// agentRestarted reports, once, whether the agent's process is not the one that the
// conversation began with.
func (s *Session) agentRestarted() bool {
	life := s.agent.opts.Client.Exited()
	was := s.agentExit
	s.agentExit = life
	return was != nil && was != life && (s.contextID != "" || s.taskID != "")
}

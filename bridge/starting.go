package bridge

import (
	"context"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

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

// waitFor does what may take time, and says so, once, if it does. The error is the
// editor's: what is done may go on then.
func (t *turn) waitFor(ctx context.Context, notice string, do func()) error {
	done := make(chan struct{})
	go func() { // ends with what it does, its time limit, or ctx
		do()
		close(done)
	}()
	timer := time.NewTimer(startingWait)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
	}
	if err := t.editor.Show(ctx, []mapping.Step{{Kind: mapping.StepNotice, Text: notice, Harmless: true}}); err != nil {
		return err
	}
	<-done
	return nil
}

// wasRestarted reports, once, whether the agent's process is not the one that the
// conversation began with.
func (s *Session) wasRestarted() bool {
	life := s.agent.opts.Client.Exited()
	was := s.life
	s.life = life
	return was != nil && was != life && (s.contextID != "" || s.taskID != "")
}

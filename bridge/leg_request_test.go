package bridge

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
)

// TestLeaveReadsOn: a subscription whose first words wait for a look is read on when the turn has left the leg, which
// could not cancel the task at its next word else.
func TestLeaveReadsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which fails if anything waits for ever
		agent := &Agent{ctx: t.Context()}
		sub := &reader{goOn: make(chan struct{})}
		l := &leg{agent: agent, request: &request{}, readers: newReaders(t.Context()), phase: away, sub: sub, first: &batch{reader: sub}}
		l.ctx, l.stop = context.WithCancel(t.Context())
		var left sync.WaitGroup
		left.Go(func() { l.leave(true) })
		<-sub.goOn
		l.stop()
		left.Wait() // then it has added what is waited for next
		agent.legs.Wait()
	})
}

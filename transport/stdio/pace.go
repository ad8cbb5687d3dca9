package stdio

import (
	"context"
	"sync"
	"time"
)

// A pace keeps lines apart, so that an editor gets no more than so many lines a
// second. Turns that wait for it merge what they have, as for an editor that is slow.
type pace struct {
	each time.Duration // for one line; 0: there is none

	mu   sync.Mutex
	next time.Time // when the next line may go
}

func newPace(perSecond int) *pace {
	if perSecond <= 0 {
		return nil
	}
	return &pace{each: time.Second / time.Duration(perSecond)}
}

// wait returns when a line may be written, or with ctx's error, or when closed is.
func (p *pace) wait(ctx context.Context, closed <-chan struct{}) error {
	if p == nil {
		return nil
	}
	now := time.Now()
	p.mu.Lock()
	at := p.next
	if at.Before(now) {
		at = now
	}
	p.next = at.Add(p.each)
	p.mu.Unlock()
	if !at.After(now) {
		return nil
	}
	timer := time.NewTimer(at.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

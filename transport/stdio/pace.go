package stdio

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// A pace keeps batches apart, so that an editor gets no more than so many lines a
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

// wait returns when lines may be written, or with ctx's error, or when closed is.
func (p *pace) wait(ctx context.Context, closed <-chan struct{}, lines []byte) error {
	if p == nil {
		return nil
	}
	n := max(1, bytes.Count(lines, []byte{'\n'}))
	now := time.Now()
	p.mu.Lock()
	at := p.next
	if at.Before(now) {
		at = now
	}
	p.next = at.Add(time.Duration(n) * p.each)
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

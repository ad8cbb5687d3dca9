package webhook

import (
	"sync"
	"time"
)

const (
	// maxAtOnce is how many bodies are read at a time: with the largest of them, what
	// a crowd of agents can make us hold.
	maxAtOnce = 16
	// maxNameAtOnce leaves room for others.
	maxNameAtOnce = 8
	// rate and burst are for one name, in pushes a second: an agent that streams
	// tokens makes some hundred events a second, and some push each.
	rate  = 500
	burst = 1000
	// maxBuckets bounds what is remembered of names. A name that is forgotten begins
	// with a full burst again.
	maxBuckets = 4096
)

// A limiter bounds how many requests are worked on, and how many come in a second.
// Only what has shown a token gets this far.
type limiter struct {
	now func() time.Time

	mu      sync.Mutex
	inside  int
	buckets map[string]*bucket
}

type bucket struct {
	inside int
	left   float64
	at     time.Time
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, buckets: map[string]*bucket{}}
}

// enter lets a request of this name in; if it does, leave is to be called at its end.
func (l *limiter) enter(name string) (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.buckets[name]
	if b == nil {
		l.forget()
		b = &bucket{left: burst, at: now}
		l.buckets[name] = b
	}
	b.left = min(burst, b.left+rate*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	if l.inside >= maxAtOnce || b.inside >= maxNameAtOnce || b.left < 1 {
		return nil, false
	}
	l.inside++
	b.inside++
	b.left--
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.inside--
		b.inside--
	}, true
}

// forget makes room for one more bucket. The caller holds mu.
func (l *limiter) forget() {
	if len(l.buckets) < maxBuckets {
		return
	}
	for name, b := range l.buckets {
		if b.inside == 0 {
			delete(l.buckets, name) // any: maps have no order
			return
		}
	}
}

package webhook

import (
	"sync"
	"time"
)

const (
	// maxAtOnce bounds the bodies that are read at once, and so the memory that many
	// agents can make us hold.
	maxAtOnce = 16
	// maxNameAtOnce leaves room for others.
	maxNameAtOnce = 8
	// rate and burst hold for one name, in pushes a second. An agent that streams tokens
	// makes some hundred events a second, and some agents push each one.
	rate  = 500
	burst = 1000
	// maxBuckets bounds the remembered names. A forgotten name begins with a full burst
	// again.
	maxBuckets = 4096
)

// A limiter bounds the requests at once and in a second. Only requests with a valid
// token reach it.
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

// enter admits a request of a name; then the caller must call leave at its end.
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

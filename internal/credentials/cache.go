package credentials

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

const (
	// getTime bounds a renewal: the wait for the lock, the provider, the file.
	getTime = 60 * time.Second
	// margin is how long before its end a token is renewed, so that it does not expire in
	// transit; at most a tenth of its life.
	margin = time.Minute
	// failPause is how long nothing is tried after a failure: prompts and reconnects would
	// keep asking a provider that is down.
	failPause = 10 * time.Second
	// freshTime is how long after the replacement of a refused token a further refusal
	// means that the agent takes no such token. (Rejected: to end it when the agent takes
	// one. Nobody revokes two tokens within a minute.)
	freshTime = time.Minute
	// closeWait is part of the second in which the program must end.
	closeWait = 300 * time.Millisecond
)

// held is a cache's content.
type held struct {
	token  string      // or what stands for header
	header http.Header // in place of a token that the card places, if it is not nil
	// renewAt is when the next one is got; after expiry this one is useless; zero: never.
	renewAt, expiry time.Time
	replacedAt      time.Time // when it came in place of a refused one; zero: it did not
}

// valid reports whether it is before a time; zero stands for never.
func valid(now, until time.Time) bool { return until.IsZero() || now.Before(until) }

// A cache keeps what get returns until it ends or is refused. One call of get runs at a
// time, and other callers wait for it. It runs in a goroutine of the cache, which ends
// at its time limit or with close.
type cache struct {
	// get gets the next one; refused is the refused token, "" for none.
	get func(ctx context.Context, refused string) (*held, error)
	now func() time.Time

	base context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu     sync.Mutex
	held   *held
	flight *flight // nil: get does not run
	failed error   // the answer until then
	until  time.Time
}

// A flight is a call of get, and what it returned once done is closed.
type flight struct {
	done chan struct{}
	held *held
	err  error
}

func newCache(now func() time.Time, get func(context.Context, string) (*held, error)) *cache {
	c := &cache{get: get, now: now}
	c.base, c.stop = context.WithCancel(context.Background())
	return c
}

// errRefusedAgain: the agent would refuse another token, too.
var errRefusedAgain = errors.New("a new one is refused as well")

// value returns what is held, or gets it. isRefused reports whether the agent has refused
// what is held. nil without an error means that there is none.
func (c *cache) value(ctx context.Context, isRefused func(*held) bool) (*held, error) {
	c.mu.Lock()
	now, h, refused := c.now(), c.held, ""
	if h != nil && isRefused(h) {
		refused = h.token
	}
	good := h != nil && refused == "" && valid(now, h.expiry)
	switch {
	case good && valid(now, h.renewAt):
		c.mu.Unlock()
		return h, nil
	case refused != "" && now.Sub(h.replacedAt) < freshTime:
		c.mu.Unlock()
		return nil, errRefusedAgain
	case c.flight == nil && now.Before(c.until):
		defer c.mu.Unlock()
		if good {
			return h, nil
		}
		return nil, c.failed
	}
	f := c.flight
	if f == nil {
		f = &flight{done: make(chan struct{})}
		c.flight = f
		c.wg.Go(func() { c.run(f, refused) })
	}
	c.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if f.err != nil && good {
		return h, nil // still valid for a while
	}
	return f.held, f.err
}

func (c *cache) run(f *flight, refused string) {
	ctx, cancel := context.WithTimeout(c.base, getTime)
	defer cancel()
	f.held, f.err = c.get(ctx, refused)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flight = nil
	if f.err != nil {
		c.failed, c.until = f.err, c.now().Add(failPause)
	} else {
		if f.held != nil && refused != "" && f.held.token != refused {
			f.held.replacedAt = c.now()
		}
		c.held, c.failed, c.until = f.held, nil, time.Time{}
	}
	close(f.done)
}

// set puts something in place of what is held; nil: the next call gets another one.
func (c *cache) set(h *held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held, c.failed, c.until = h, nil, time.Time{}
}

// close ends a running get. It first waits a moment, because what a provider has sent
// should be stored.
func (c *cache) close() {
	c.mu.Lock()
	f := c.flight
	c.mu.Unlock()
	if f != nil {
		select {
		case <-f.done:
		case <-time.After(closeWait):
		}
	}
	c.stop()
	c.wg.Wait()
}

// renewAt returns when to renew a token, by when it was got and when it ends; zero: never.
func renewAt(got, expiry time.Time) time.Time {
	if expiry.IsZero() {
		return expiry
	}
	return expiry.Add(-min(margin, expiry.Sub(got)/10))
}

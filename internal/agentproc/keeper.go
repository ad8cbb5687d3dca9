package agentproc

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// healthy is how long an agent must live for its end to count as the first failure.
	healthy = time.Minute
	// Pauses before the restart of an agent that fails repeatedly.
	firstPause = time.Second
	maxPause   = 30 * time.Second
)

// A Keeper starts an agent when its URL is first asked for, and again when it has ended
// and [Keeper.Revive] was called. All callers share its one process. Its methods may be
// called concurrently.
type Keeper struct {
	opts Options

	mu       sync.Mutex
	current  *process
	failures int // early ends in a row
	last     error
	stopped  bool
}

// NewKeeper returns a Keeper, and starts nothing. An error is about the command or the
// directory. [Options.Patience] bounds each wait in URL.
func NewKeeper(opts *Options) (*Keeper, error) {
	if _, _, err := opts.parse(""); err != nil {
		return nil, err
	}
	if info, err := os.Stat(opts.Dir); opts.Dir != "" && (err != nil || !info.IsDir()) {
		return nil, fmt.Errorf("agent: it cannot run in %s, which is no directory", opts.Dir)
	}
	k := &Keeper{opts: *opts, current: &process{done: make(chan struct{})}}
	k.opts.Workspaces = cmp.Or(opts.Workspaces, new(Workspaces)) // Enter adds to them
	return k, nil
}

// URL starts the agent unless it runs, waits for its card, and returns its URL. It does
// not restart an ended agent: until Revive it returns how that has ended. An error
// whose Timeout method returns true means that the agent is still starting; a later
// call may succeed.
func (k *Keeper) URL(ctx context.Context) (string, error) {
	if k.opts.Allow != nil {
		if err := k.opts.Allow(ctx); err != nil {
			return "", err
		}
	}
	var impatient <-chan time.Time
	if k.opts.Patience > 0 {
		impatient = time.After(k.opts.Patience)
	}
	p, err := k.start(ctx, impatient)
	if err != nil {
		return "", err
	}
	return p.find(ctx, impatient)
}

// start returns the current process, and starts it if need be, after the pause that failures
// have earned.
func (k *Keeper) start(ctx context.Context, impatient <-chan time.Time) (*process, error) {
	k.mu.Lock()
	p := k.current
	k.mu.Unlock()
	// Without a pause the agent is started, however impatient the caller is by now.
	if wait := time.Until(p.notBefore); wait > 0 {
		select {
		case <-time.After(wait):
		case <-impatient:
			return nil, &slowError{fmt.Sprintf("agent: it keeps ending, and is started again in %v; %s", time.Until(p.notBefore).Round(time.Second), strings.TrimPrefix(k.Err().Error(), "agent: "))}
		case <-ctx.Done():
			return nil, fmt.Errorf("agent: waiting to start it again was given up: %w", ctx.Err())
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case p.cmd != nil:
		return p, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("agent: its start was given up: %w", ctx.Err())
	case k.stopped || p != k.current:
		return nil, fmt.Errorf("agent: it was ended before it was started")
	}
	return p, p.start(&k.opts, func() { k.noteEnd(p) })
}

// noteEnd notes how a process ended, and whether that counts as a failure.
func (k *Keeper) noteEnd(p *process) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = p.err
	if k.failures++; p.isFound() && p.ended.Sub(p.began) >= healthy {
		k.failures = 0
	}
}

// Revive prepares a restart by the next URL. The restart comes at once after a long
// life or a first failure, otherwise after growing pauses. Revive does nothing if the
// agent has not ended, or if Stop has ended it.
func (k *Keeper) Revive() {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.current.done:
	default:
		return
	}
	if !k.stopped {
		old := k.current
		k.current = &process{notBefore: old.ended.Add(pause(k.failures, old.isFound())), done: make(chan struct{})}
	}
}

// pause returns the wait before a restart after this many failures. served: the agent had a
// card.
func pause(failures int, served bool) time.Duration {
	if served {
		failures--
	}
	if failures <= 0 {
		return 0
	}
	return min(firstPause<<min(failures-1, 10), maxPause)
}

// Enter adds a directory of a session's to the workspaces. An agent whose PATH leads there
// is ended, and may be started again without that.
func (k *Keeper) Enter(dir string) error {
	k.mu.Lock()
	before := k.opts.Workspaces.environ()
	k.opts.Workspaces.Add(dir)
	p := k.current
	same := p.cmd == nil || slices.Equal(before, k.opts.Workspaces.environ())
	k.mu.Unlock()
	if same {
		return nil
	}
	p.mu.Lock()
	p.advice = fmt.Sprintf("it had to, since a session was opened in %s, where its PATH led; your next prompt starts it again without that", dir)
	p.mu.Unlock()
	return p.stop()
}

// Done is closed when the agent has ended. After Revive it is another channel, which
// tells one run from the next.
func (k *Keeper) Done() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.current.done
}

// Err tells how the agent last ended, nil if it never has.
func (k *Keeper) Err() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// Stop ends the agent for good, and returns when all of its processes have ended: SIGTERM
// first, SIGKILL after the grace period. An error means that the supervisor had to be killed.
func (k *Keeper) Stop() error {
	k.mu.Lock()
	k.stopped = true
	p := k.current
	started := p.cmd != nil
	k.mu.Unlock()
	if !started {
		return nil
	}
	return p.stop()
}

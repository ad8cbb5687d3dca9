package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync"
	"time"
)

// ExtensionURI names the development-tool extension. Clients activate it with
// the extensions header, and find it as the key of every metadata object.
const ExtensionURI = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"

// URL is the agent's on a network in memory. The host resolves nowhere, so that a client on
// any other network finds nothing.
const URL = "http://demo.invalid/"

const (
	// defaultPace makes a story readable for a viewer; in a test's virtual time it costs
	// nothing.
	defaultPace = 20 * time.Millisecond
)

// Options configure an Agent. It writes files only below the workspace that a client
// names.
type Options struct {
	// Pace is the delay between chunks. Zero is a small default, negative is none. The
	// story "slow" has a pace of its own, and "long" has none.
	Pace time.Duration

	// Auth is what callers must show: [AuthBearer], or nothing. The card is public.
	Auth string

	// Secret is the token; if empty, the agent makes one up.
	Secret string
}

// An Agent is the demo agent, an [http.Handler].
type Agent struct {
	pace  time.Duration
	token string // what callers must show; empty: nothing

	ctx  context.Context // parent of every story
	stop context.CancelFunc
	wg   sync.WaitGroup // one for each story

	// mu is a leaf: no other lock is taken while it is held.
	mu       sync.Mutex
	closed   bool
	tasks    map[string]*task
	order    []*task // by creation
	sessions map[string]*session
	notes    []string // of the slash command /memory
}

// New returns an agent that is ready to serve. Nothing runs before the first request.
func New(opts *Options) *Agent {
	a := &Agent{
		pace:     opts.Pace,
		tasks:    map[string]*task{},
		sessions: map[string]*session{},
	}
	if opts.Auth != "" {
		a.token = cmp.Or(opts.Secret, rand.Text())
	}
	if a.pace == 0 {
		a.pace = defaultPace
	}
	a.ctx, a.stop = context.WithCancel(context.Background())
	return a
}

// Close ends all stories, cuts their streams, and waits for their goroutines. It
// refuses later requests that would start a story. It always returns nil, and may be
// called twice.
func (a *Agent) Close() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.stop()
	a.wg.Wait()
	return nil
}

// task returns a task, nil if there is none.
func (a *Agent) task(id string) *task {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tasks[id]
}

func (a *Agent) add(t *task) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tasks[t.id] = t
	a.order = append(a.order, t)
}

// start tells the story of a prompt in a goroutine. It ends with the story, when the task is
// canceled, or when the agent is closed. The caller holds t.mu.
func (a *Agent) start(t *task, tell story, prompt *message) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return &rpcError{Code: codeInternal, Message: "the agent is closed"}
	}
	ctx, cancel := context.WithCancel(a.ctx)
	r := &run{agent: a, task: t, prompt: prompt, ctx: ctx}
	t.run, t.cancel = r, cancel
	a.wg.Go(func() {
		defer cancel()
		r.tell(tell)
	})
	return nil
}

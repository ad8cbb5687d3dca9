package demo

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"
)

// ExtensionURI names the development-tool extension. Clients activate it with
// the extensions header, and find it as the key of every metadata object.
const ExtensionURI = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"

const (
	// defaultPace makes a story legible to somebody who watches it, and costs
	// a test in virtual time nothing.
	defaultPace = 20 * time.Millisecond

	// maxTasks bounds the memory of an agent that is left running. The oldest
	// task that is over is forgotten first; tasks that are under way are never
	// forgotten, because somebody can still answer them.
	maxTasks = 1024
)

// Options configure an Agent. The zero value is an agent that writes only
// below the workspace that a client names.
type Options struct {
	// Workspace is the only directory below which files are written; a client
	// may narrow it by workspace_path but not leave it. If it is empty, the
	// client's workspace_path is the workspace.
	Workspace string

	// Pace is the delay between chunks. Zero is a small default, negative is
	// none. The story "slow" has a pace of its own and "long" has none.
	Pace time.Duration

	// NewID makes task, context, message and tool call IDs; nil makes UUIDs. It
	// is called from several goroutines. Golden transcripts want a counter here;
	// a server must not, because clients keep IDs across its restarts.
	NewID func() string

	// Version is the A2A version that the card offers and the methods speak:
	// "0.3" (also the meaning of ""), "1.0" or "both". With anything else every
	// request is refused.
	Version string
}

// An Agent is the demo agent. It is an [http.Handler]; use [Agent.Pipe] to talk to
// it without a network, or [Agent.Listen] to serve it.
type Agent struct {
	pace    time.Duration
	newID   func() string
	root    string // absolute Options.Workspace, or ""
	rootErr error
	version string

	ctx  context.Context // parent of every story
	stop context.CancelFunc
	wg   sync.WaitGroup // one for each story

	// mu is a leaf: no other lock is taken while it is held.
	mu       sync.Mutex
	closed   bool
	tasks    map[string]*task
	order    []*task // by creation
	sessions map[string]*session
	memory   []string // of the slash command /memory
}

// A session is what tasks of one context share.
type session struct {
	contextID string

	mu        sync.Mutex
	workspace *workspace      // nil: none was named
	always    map[string]bool // tools that the user allowed for good
}

// New returns an agent that is ready to serve. Nothing runs until a request
// arrives. A nil opts is the zero value.
func New(opts *Options) *Agent {
	if opts == nil {
		opts = &Options{}
	}
	a := &Agent{
		pace:     opts.Pace,
		newID:    opts.NewID,
		version:  opts.Version,
		tasks:    map[string]*task{},
		sessions: map[string]*session{},
	}
	if a.pace == 0 {
		a.pace = defaultPace
	}
	if a.newID == nil {
		a.newID = uuid.NewString
	}
	if opts.Workspace != "" {
		// New cannot return the error, and should not: an agent without a
		// working directory still tells every story that writes nothing.
		a.root, a.rootErr = filepath.Abs(opts.Workspace)
	}
	a.ctx, a.stop = context.WithCancel(context.Background())
	return a
}

// Close ends every running story, cuts the streams that follow them, and waits
// for the stories' goroutines. Later requests that would start one are refused.
// It always returns nil, and may be called twice.
func (a *Agent) Close() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.stop()
	a.wg.Wait()
	return nil
}

// session returns the session of a context, and makes it if it is new. An
// empty contextID is a new context.
func (a *Agent) session(contextID string) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	if contextID == "" {
		contextID = a.newID()
	}
	s := a.sessions[contextID]
	if s == nil {
		s = &session{contextID: contextID, always: map[string]bool{}}
		a.sessions[contextID] = s
	}
	return s
}

func (a *Agent) task(id string) *task {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tasks[id]
}

// keep adds a task to the store and forgets an old one if there are too many.
func (a *Agent) keep(t *task) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tasks[t.id] = t
	a.order = append(a.order, t)
	if len(a.order) <= maxTasks {
		return
	}
	for i, old := range a.order {
		if !old.over.Load() {
			continue
		}
		a.order = append(a.order[:i:i], a.order[i+1:]...)
		delete(a.tasks, old.id)
		for _, other := range a.order {
			if other.session == old.session {
				return
			}
		}
		delete(a.sessions, old.session.contextID)
		return
	}
}

// start tells a story in a goroutine that ends when the story does, when the
// task is canceled or when the agent is closed. The caller holds t.mu.
func (a *Agent) start(t *task, tell story, prompt *message) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return &rpcError{Code: codeInternal, Message: "the agent is closed"}
	}
	ctx, cancel := context.WithCancel(a.ctx)
	r := &run{agent: a, task: t, prompt: prompt}
	t.run, t.cancel = r, cancel
	a.wg.Go(func() {
		defer cancel()
		r.finish(r.tell(ctx, tell))
	})
	return nil
}

package bridge

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Options say how to serve an editor, or to hold a conversation. The zero value
// of each member but Client is good.
type Options struct {
	// Client reaches the agent. It is not closed by the bridge.
	Client *transport.Client
	// Dialect is what to write to the agent: see [mapping.Settings].
	Dialect string
	// Extensions are URIs to activate beside those that the bridge speaks.
	Extensions []string
	// AgentSettings is a JSON object to add to the settings that the first
	// message of a session carries.
	AgentSettings json.RawMessage
	// ForwardMCP hands the editor's MCP servers, tokens and all, to the agent.
	ForwardMCP bool
	// Mode is the permission mode of new sessions: default, accept-edits or yolo.
	Mode string
	// Workspace is the directory of sessions whose editor names none.
	Workspace string
	// Protocol is what the editor speaks: acp, a2a, or auto: its first request
	// tells.
	Protocol string
	// OnEOF is what the end of input does to work under way: cancel, finish, or
	// auto: cancel for ACP, whose editor is gone when its pipe has ended; finish
	// for A2A lines, where it says that all requests are in.
	OnEOF string
	// IdleTimeout is how long an agent may say nothing on a stream before the
	// connection is taken for lost; 0: for ever, since most agents are silent
	// while they think.
	IdleTimeout time.Duration
	// Store keeps sessions for later processes; nil: they end with this one.
	Store *Store
	// Name tells this agent's sessions from other agents' in the store: its URL,
	// say, without credentials.
	Name string
	// Version is the program's, told to editors.
	Version string
	// Tap sees each line, to the editor or from it, without its newline; it must
	// not keep it. It may be called from two goroutines, once each way.
	Tap func(toEditor bool, line []byte)
	// Log takes what the bridge notices; nil: nothing.
	Log *slog.Logger
	// NewID makes the IDs of sessions, contexts and messages; nil: random UUIDs.
	NewID func() string
	// Now is the clock for what is shown to users; nil: [time.Now].
	Now func() time.Time
}

// An Agent is the far end: a client, and how to write to what is behind it. It
// is safe for concurrent use.
type Agent struct {
	opts Options
	// ctx is for legs: they outlive their turns. stop ends it.
	ctx  context.Context
	stop context.CancelFunc
	legs sync.WaitGroup

	mu       sync.Mutex
	asked    bool // for commands
	commands []mapping.Command
}

// NewAgent returns an Agent that has not been contacted yet. opts is copied. The
// caller closes it.
func NewAgent(opts *Options) *Agent {
	a := &Agent{opts: *opts}
	a.ctx, a.stop = context.WithCancel(context.Background())
	if a.opts.NewID == nil {
		a.opts.NewID = uuid.NewString
	}
	if a.opts.Now == nil {
		a.opts.Now = time.Now
	}
	if a.opts.Log == nil {
		a.opts.Log = slog.New(slog.DiscardHandler)
	}
	if a.opts.Mode == "" {
		a.opts.Mode = ModeDefault
	}
	return a
}

// Close ends everything that turns have left behind: streams that nobody reads,
// cancels under way. No turn may be running.
func (a *Agent) Close() {
	a.stop()
	a.legs.Wait()
}

// Ready contacts the agent, unless that has been done, and decides how to write
// to it. An error is not remembered: the next call tries again.
func (a *Agent) Ready(ctx context.Context) (*a2a.Card, mapping.Writing, error) {
	card, err := a.opts.Client.Card(ctx)
	if err != nil {
		return nil, mapping.Writing{}, err
	}
	w, err := mapping.Settings(card, a.opts.Dialect, a.opts.Extensions)
	if err != nil {
		return nil, w, err
	}
	a.opts.Client.Activate(w.Extensions)
	return card, w, nil
}

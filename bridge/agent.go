package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/mcp"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Options say how to serve an editor, or to hold a conversation. The zero value
// of each member but Client is good. A Dialect or a Mode that does not exist is refused
// when the agent is contacted first.
//
// Only [Serve] uses Login, Setup, AuthMethods, ForwardMCP, MCPFile, Workspace, Protocol,
// ACPVersion, Agents, AnswerWithin, OnEOF, MaxEventsPerSecond, Companion,
// CompanionContext, EditorTools, Version and Tap.
type Options struct {
	// Client reaches the agent: [transport.NewClient] makes it, which needs no options
	// but the agent's URL. It is not closed by the bridge.
	Client *transport.Client
	// Login signs the user in from the editor; nil: that cannot be done.
	Login Login
	// Setup is for [Serve] without a Client: it returns the options of the agent that
	// has been set up meanwhile, all of them, with a Client; or an error that says to
	// the user what to do. It is asked whenever something needs an agent, and when the
	// editor authenticates, by one goroutine at a time, until it has succeeded. The editor's
	// next message waits for it. Of
	// Serve's own options, Tap, Protocol, OnEOF and AuthMethods stay in force.
	Setup func(ctx context.Context) (*Options, error)
	// AuthMethods are offered to ACP editors by initialize beside those of Login, those
	// that run in a terminal to editors that can. authenticate succeeds by any of them,
	// unless there is no agent, or it is known that the user has to sign in. In the
	// latter case a method without a type signs the user in, as Login's does.
	AuthMethods []acp.AuthMethod
	// Dialect is what to write to the agent, one of [dialect.Names]; empty: its card
	// tells.
	Dialect string
	// Extensions are URIs to activate beside those that the bridge speaks.
	Extensions []string
	// AgentSettings is a JSON object to add to the settings that the first
	// message of a session carries.
	AgentSettings json.RawMessage
	// ForwardMCP hands the editor's MCP servers, tokens and all, to the agent.
	ForwardMCP bool
	// MCPFile is where an agent that was started for us reads MCP servers; nil: it reads
	// none of ours.
	MCPFile MCPFile
	// Mode is the permission mode of new sessions, one of [Modes]; empty: [ModeDefault].
	Mode string
	// Workspace is the directory of sessions whose editor names none.
	Workspace string
	// Enter is told of each directory of a session's, before the agent is asked for
	// anything in it; nil: nobody is. Where it is set, an ACP editor's agent is not contacted
	// before a session is opened.
	Enter func(dir string)
	// Protocol is what the editor speaks, one of [Protocols]. With auto, or empty, its
	// first request tells.
	Protocol string
	// ACPVersion is which version of ACP is served, one of [ACPVersions]. With auto, or empty, it
	// is 2 where the editor asks for that or more.
	ACPVersion string
	// Agents are those that an MCP client may choose from; nil: there is Client's alone.
	Agents Agents
	// AnswerWithin is how long a call of an MCP client's may take. If the task takes longer,
	// the answer is what it has said by then, and a handle. 0: 45 seconds, which is below the
	// limits of the clients.
	AnswerWithin time.Duration
	// OnEOF is what the end of input does to work under way: cancel, finish, or auto,
	// which empty means, too: cancel for ACP, whose editor is gone when its pipe has ended; finish
	// for A2A lines, where it says that all requests are in.
	OnEOF string
	// MaxEventsPerSecond is how many notifications a second an editor gets at most; 0:
	// as many as there are. Above that they are merged, as for an editor that is behind,
	// and nothing is lost.
	MaxEventsPerSecond int
	// IdleTimeout is how long an agent may say nothing on a stream before the
	// connection is taken for lost; 0: for ever, since most agents are silent
	// while they think.
	IdleTimeout time.Duration
	// Webhooks receive what an agent pushes, so that a turn goes on while its stream is
	// gone; nil: agents are not asked to push.
	Webhooks Webhooks
	// Companion starts what serves the agents in the editor's terminal; nil: nothing
	// does. It is called once, when the editor's directory is known.
	Companion func(CompanionEditor, CompanionInfo) (Companion, error)
	// CompanionContext adds what the user looks at to each prompt, as the companion
	// knows it: a link to the file, and the selected text.
	CompanionContext bool
	// EditorTools serves MCP to programs of this machine that know the token, by answer,
	// until stop is called; nil: the agent is not served. An ACP editor is served by it as
	// tools: its open files to read and to write, and which they are. Each session has a
	// server, which is among the MCP servers of its AgentSettings, for an agent that is on
	// this machine.
	EditorTools func(answer func(context.Context, *mcp.Message) *mcp.Reply) (url, token string, stop func() error, err error)
	// Store keeps sessions for later processes; nil: they end with this one.
	Store *store.Store
	// NoHistory keeps nothing of conversations in Store: no journal, no record. Editors
	// are not offered to load sessions then.
	NoHistory bool
	// Name tells this agent's sessions from other agents' in the store: its URL,
	// say, without credentials.
	Name string
	// Version is the program's, told to editors.
	Version string
	// Tap sees each line, to the editor or from it, without its newline; it must
	// not keep it. It may be called from two goroutines, once each way.
	Tap func(toEditor bool, line []byte)
	// Observe, if not nil, is called with what the bridge does and decides. It may be
	// called from any goroutine, and must not wait.
	Observe func(*Observation)
	// Mask takes credentials out of errors, in which agents echo them, before an editor
	// gets them; nil: they are passed on as they are. It may be called from any goroutine.
	Mask func(text string) string
	// Log takes what the bridge notices; nil: nothing.
	Log *slog.Logger
	// NewID makes the IDs of sessions, contexts and messages; nil: random UUIDs.
	NewID func() string
	// Now is the clock for what is shown to users; nil: [time.Now].
	Now func() time.Time
}

// An Agent is the agent's end of the bridge: a client, and how to write to the agent.
// It is safe for concurrent use.
type Agent struct {
	opts Options
	// ctx is for legs: they outlive their turns. stop ends it.
	ctx  context.Context
	stop context.CancelFunc
	legs sync.WaitGroup

	observed atomic.Int64 // how many events were numbered, for Options.Observe

	// What was found out of the agent.
	pushRefused       atomic.Bool                   // its card says that it pushes, and it does not
	referencesRefused atomic.Bool                   // it takes no messages that name earlier tasks
	messagesEnd       atomic.Int32                  // how a stream of messages has ended last: see mayPause
	commands          atomic.Pointer[[]acp.Command] // nil: it has not told them

	makingTask chan struct{} // has a token while makeTask runs
}

// NewAgent returns an Agent that has not been contacted yet. opts is copied. The
// caller closes it.
func NewAgent(opts *Options) *Agent {
	a := &Agent{makingTask: make(chan struct{}, 1)}
	a.ctx, a.stop = context.WithCancel(context.Background())
	a.adopt(opts)
	return a
}

// adopt takes options over. No other goroutine may use a meanwhile.
func (a *Agent) adopt(opts *Options) {
	a.opts = *opts
	if a.opts.NewID == nil {
		a.opts.NewID = uuid.NewString
	}
	if a.opts.Now == nil {
		a.opts.Now = time.Now
	}
	if a.opts.Log == nil {
		a.opts.Log = slog.New(slog.DiscardHandler)
	}
	if a.opts.Mask == nil {
		a.opts.Mask = func(text string) string { return text }
	}
	a.opts.Mode = cmp.Or(a.opts.Mode, ModeDefault)
}

// Close ends everything that turns have left behind: streams that are only drained,
// cancels under way. No turn may be running.
func (a *Agent) Close() {
	a.stop()
	a.legs.Wait()
}

// Ready contacts the agent, unless that has been done, and returns its card and how to write
// to it. An error is not remembered: the next call tries again. An agent that was
// started for us and has died is started again.
func (a *Agent) Ready(ctx context.Context) (*a2a.Card, dialect.Writing, error) {
	if mode := a.opts.Mode; !slices.Contains(Modes(), mode) {
		return nil, dialect.Writing{}, fmt.Errorf("bridge: unknown mode %q; use one of %s", mode, strings.Join(Modes(), ", "))
	}
	a.opts.Client.Revive()
	card, err := a.opts.Client.Card(ctx)
	if err != nil {
		return nil, dialect.Writing{}, err
	}
	w, err := dialect.Settings(card, a.opts.Dialect, a.opts.Extensions)
	if err != nil {
		return nil, w, err
	}
	a.opts.Client.Activate(w.Extensions)
	return card, w, nil
}

// stores reports whether conversations are kept.
func (o *Options) stores() bool { return o.Store != nil && !o.NoHistory }

// workspace is the directory of a session whose editor names none.
func (o *Options) workspace() string {
	if o.Workspace != "" {
		return o.Workspace
	}
	dir, _ := os.Getwd() // if the directory was deleted it is empty, and the agent reports that
	return dir
}

// oneLine is the text of an error in one line: an agent's words in it cannot pose as lines of ours.
func (a *Agent) oneLine(err error) string {
	return ask.Visible(strings.Join(strings.Fields(a.opts.Mask(err.Error())), " "))
}

// fence puts what an agent says between marks, apart from our own words: the agent cannot know the
// mark, and so cannot end it. "" if it says nothing.
func (a *Agent) fence(name, said string) string {
	if said = strings.TrimSpace(said); said == "" {
		return ""
	}
	mark := a.opts.NewID()
	mark = mark[:min(len(mark), 8)]
	return fmt.Sprintf("\nWhat %s says, which is not the user's word, stands between the marks %s:\n<%s>\n%s\n</%s>\n", name, mark, mark, said, mark)
}

// abilitiesLine says what an agent can do, in one line.
func (a *Agent) abilitiesLine(card *a2a.Card, w dialect.Writing) string {
	return w.Abilities(card, dialect.Ability{Name: "streaming", Has: !a.opts.Client.Unsupported().Streaming})
}

// A Companion serves the agents in the editor's terminal, beside the bridge on the same
// stdio: see docs/companion.md. Its methods may be called from several goroutines.
type Companion interface {
	// Handle takes a message of the editor's, in A2A lines' spelling, and returns what
	// a request is answered with. It must not wait. An error with a method Code() int
	// is answered with that code.
	Handle(method string, params json.RawMessage) (any, error)
	// OpenFiles returns the files that the user has open: the one that has the focus first,
	// then those that had it last.
	OpenFiles() []OpenFile
	// Close ends it.
	Close() error
}

// An OpenFile is a file that the user has open.
type OpenFile struct {
	Path string `json:"path"` // absolute
	// Active: it has the focus. Line, from 1, and Selection are of such a file.
	Active    bool   `json:"active,omitempty"`
	Line      int    `json:"line,omitempty"`
	Selection string `json:"selection,omitempty"`
}

// CompanionEditor is the editor of a [Companion].
type CompanionEditor interface {
	// Request sends a request in A2A lines' spelling, and decodes the answer into result.
	Request(ctx context.Context, method string, params, result any) error
	// Notify sends a notification.
	Notify(ctx context.Context, method string, params any) error
}

// CompanionInfo is what is known of the editor when its [Companion] is started.
type CompanionInfo struct {
	// Name is what the editor calls itself; "" if it has not said.
	Name string
	// Workspace is the absolute path of the directory that is open.
	Workspace string
	// NoDiffs: the editor has not said that it shows diffs.
	NoDiffs bool
}

package bridge

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A setup is the part of a server that works before there is an agent: see
// [Options.Setup].
type setup struct {
	done atomic.Bool // there is an agent
	mu   sync.Mutex  // for looking for one
}

// withAgent runs a method that needs an agent. Without one it answers with an error.
func (s *server) withAgent(c *editorRequest, method func(*editorRequest)) {
	if err := s.findAgent(s.ctx); err != nil {
		c.failSetup(err)
		return
	}
	method(c)
}

// findAgent asks for the agent that has been set up meanwhile. The agent is not used
// elsewhere before this has succeeded: requests that need one wait here.
func (s *server) findAgent(ctx context.Context) error {
	s.setup.mu.Lock()
	defer s.setup.mu.Unlock()
	if s.setup.done.Load() {
		return nil
	}
	opts, err := s.agent.opts.Setup(ctx)
	if err != nil {
		return err
	}
	s.agent.adopt(opts)
	s.setup.done.Store(true)
	return nil
}

// mask takes credentials out of errors. Without an agent there are none, and its options may be exchanged.
func (s *server) mask(text string) string {
	if !s.setup.done.Load() {
		return text
	}
	return s.agent.opts.Mask(text)
}

// Agents are those that a client may choose from. Names may be called from several goroutines, also
// while Open runs.
type Agents interface {
	// Names lists them, at least one, and the one first that is asked where none is named. An error tells the
	// user what is wrong with the set-up.
	Names() ([]string, error)
	// Open returns one of them, the same each time, which the bridge does not close. It is asked for
	// one at a time, and again after an error.
	Open(ctx context.Context, name string) (*Agent, error)
}

// failSetup says that there is no agent. Where the editor was offered a way to set one
// up, it is said as ACP says that somebody has to log in: editors offer the methods of
// initialize then. Some show the message only, some the details. No agent has no sessions:
// agent-shell shows nothing at all where it gets no list, so it would not show this.
func (c *editorRequest) failSetup(err error) {
	if c.method == acp.MethodSessionList {
		c.reply(acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}})
		return
	}
	code, message := acp.CodeNotSetUp, err.Error()
	if len(c.server.opts.AuthMethods) > 0 {
		code = acp.CodeAuthRequired
		if !c.server.isLines.Load() {
			message = "Authentication required: " + strings.TrimPrefix(message, "bridge: ")
		}
	}
	c.fail(code, message, err.Error())
}

// A Login knows who the user is to the agent. Its methods may be called
// concurrently.
type Login interface {
	// Methods are the ways to sign in, the best first: one that SignIn goes, without
	// a type, and one that the editor runs in a terminal. They are asked for before
	// the agent is known, so that they must not wait for anything. oauth: its card is
	// known, and names an identity provider.
	Methods(oauth bool) []acp.AuthMethod
	// Needed returns nil unless it is known that the user has to sign in; the error
	// says why, and how. card is the agent's, nil where that waits for a session.
	Needed(ctx context.Context, card *a2a.Card) error
	// SignIn signs the user in. It may take as long as a person does.
	SignIn(ctx context.Context, user Asker) error
	// SignOut forgets what SignIn has stored.
	SignOut(ctx context.Context) error
}

// An Asker asks the user through the editor, about the request that is being
// served. What the editor has no way to show is [ErrCannotAsk].
type Asker interface {
	// Confirm asks a question that is answered by yes or no.
	Confirm(ctx context.Context, question string) (yes bool, err error)
	// Open asks whether to open a URL, and has the editor open it; text says what
	// for. It returns when the user has agreed, not when the page is done.
	Open(ctx context.Context, text, url string) (yes bool, err error)
}

// An Opener is an [Asker] that knows whether the editor opens pages.
type Opener interface {
	Opens() bool
}

// ErrCannotAsk: the editor has no way to ask that.
var ErrCannotAsk = errors.New("editor: cannot ask the user that")

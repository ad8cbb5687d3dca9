package bridge

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/a2astdio/a2astdio/mapping/acp"
)

// A setup is the part of a server that works before there is an agent: see
// [Options.Setup].
type setup struct {
	done atomic.Bool // there is an agent
	mu   sync.Mutex  // for looking for one
}

// withAgent runs a method that needs an agent: at once, in the read loop, if there is
// one; otherwise in a goroutine, which looks for one first. Without an agent it answers
// with an error.
func (s *server) withAgent(c *editorRequest, method func(*editorRequest)) {
	if s.setup.done.Load() {
		method(c)
		return
	}
	s.spawn(func(ctx context.Context) {
		if err := s.findAgent(ctx); err != nil {
			c.failSetup(err)
			return
		}
		method(c)
	})
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

// failSetup says that there is no agent. Where the editor was offered a way to set one
// up, it is said as ACP says that somebody has to log in: editors offer the methods of
// initialize then. Some show the message only, some the details. No agent has no sessions:
// agent-shell shows nothing at all where it gets no list, so it would not show this.
func (c *editorRequest) failSetup(err error) {
	if c.Method == acp.MethodSessionList {
		c.reply(acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}})
		return
	}
	code, message := acp.CodeNotSetUp, err.Error()
	if len(c.server.agent.opts.AuthMethods) > 0 {
		code = acp.CodeAuthRequired
		if !c.server.isLines.Load() {
			message = "Authentication required: " + strings.TrimPrefix(message, "bridge: ")
		}
	}
	c.fail(code, message, err.Error())
}

package world

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/poison"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has all that the world needs of the bridge.

// A served is a bridge that serves an editor.
type served struct {
	client *transport.Client
	line   *line
	ended  chan error // gets its end
}

// serve starts a bridge between an editor's pipes and a line to the agent. dir is its
// directory for sessions, "" for none.
func (p *play) serve(in io.Reader, out io.WriteCloser, dir string) (*served, error) {
	s := &served{line: newLine(p.agent), ended: make(chan error, 1)}
	opts := &bridge.Options{Version: "world", Name: agentURL, Workspace: "/", IdleTimeout: p.plan.Idle, NewID: p.newID}
	var err error
	reach := &transport.ClientOptions{RoundTripper: s.line}
	if p.plan.Seed%8 == 0 {
		reach.RoundTripper = poison.RoundTripper{RoundTripper: s.line}
	}
	if s.client, err = transport.NewClient(agentURL, reach); err != nil {
		return nil, err
	}
	opts.Client = s.client
	if dir != "" {
		if opts.Store, err = store.Open(dir); err != nil {
			return nil, err
		}
	}
	if opts.Protocol = bridge.ProtocolACP; p.plan.On.Has(Lines) {
		opts.Protocol = bridge.ProtocolA2A
	}
	opts.OnEOF = bridge.OnEOFCancel
	if p.plan.Agent.Pushes {
		opts.Webhooks = p.hooks
	}
	p.wg.Go(func() { // ends with its input
		err := bridge.Serve(context.Background(), in, out, opts)
		out.Close()
		opts.Store.Wait()
		s.ended <- err
	})
	return s, nil
}

// hooks are the addresses for pushes. Like those of a separate receiver, they outlive a
// bridge.
type hooks struct {
	agent *agent
	mu    sync.Mutex
	boxes map[string]chan bridge.Push
}

func newHooks(a *agent) *hooks { return &hooks{agent: a, boxes: map[string]chan bridge.Push{}} }

// Open implements [bridge.Webhooks].
func (h *hooks) Open(_ context.Context, name string) (bridge.Webhook, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if name == "" {
		name = fmt.Sprintf("hook-number-%d", len(h.boxes)+1)
	}
	if h.boxes[name] == nil {
		box := make(chan bridge.Push, 1<<12) // more than a world pushes
		h.boxes[name] = box
		h.agent.mu.Lock()
		h.agent.hooks[hookURL+name] = func(payload []byte) { box <- bridge.Push{Payload: payload, Taken: func() {}} }
		h.agent.mu.Unlock()
	}
	return hook{name, h.boxes[name]}, nil
}

const hookURL = "http://hooks.invalid/"

// A hook is one address.
type hook struct {
	name   string
	pushes chan bridge.Push
}

func (h hook) Name() string               { return h.name }
func (h hook) Config() a2a.PushConfig     { return a2a.PushConfig{URL: hookURL + h.name} }
func (h hook) Pushes() <-chan bridge.Push { return h.pushes }
func (h hook) Close(bool)                 {}

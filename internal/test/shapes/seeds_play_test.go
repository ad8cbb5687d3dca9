package shapes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/memnet"
)

// A Played is what has happened in a world.
type Played struct {
	Turns []*PlayedTurn
	Heard []agent.Heard
	Said  []agent.Said
	// Loaded is what the editor got when it loaded the session behind a kill.
	Loaded []editor.Shown
	// ServeErr is the bridge's end; Closing is how long it took.
	ServeErr error
	Closing  time.Duration
}

// A PlayedTurn is what has happened in a turn.
type PlayedTurn struct {
	*editor.Turn
	Acted time.Time // the user has cancelled, left, or killed the bridge
	Stuck bool
	// State and Open are the task's at the end, and Later its state three seconds later.
	State, Later agent.State
	Open         []string
}

// perform plays a plan, in a bubble of testing/synctest. dir makes a directory for sessions.
func perform(p *Plan, dir func() string) (*Played, error) {
	r := &Played{}
	watch := &moment{}
	p.Script.OnSay = watch.said
	a := agent.New(p.Script)
	network := &memnet.Network{Handler: a}
	think := time.Duration(0)
	opts := &editor.Options{Protocol: p.Protocol, Network: network, URL: agent.URL,
		Answer: func(q *editor.Shown) (string, time.Duration) { return q.Options[0], think }}
	path := dir()
	var err error
	if opts.Store, err = store.Open(path); err != nil {
		return nil, err
	}
	e, err := editor.Start(opts)
	if err != nil {
		return nil, err
	}
	open := true
	for n, t := range p.Turns {
		think = t.Think
		reached := watch.at(len(a.Said()) + t.Act.Steps)
		tr := &PlayedTurn{Turn: e.Prompt(fmt.Sprintf("question %d", n))}
		r.Turns = append(r.Turns, tr)
		act := follow(tr, reached, t.Act)
		switch act {
		case Cancel:
			e.Cancel(tr.Turn)
			follow(tr, nil, Act{})
		case Leave, Terminate:
			began := time.Now()
			if act == Terminate {
				e.Terminate()
			}
			r.ServeErr, open = e.Close(), false
			if act == Terminate && errors.Is(r.ServeErr, context.Canceled) {
				r.ServeErr = nil
			}
			r.Closing = time.Since(began)
		case Kill:
			if network, err = killBridge(e, opts, network, path, dir()); err != nil {
				return nil, err
			}
			if e, err = editor.Start(opts); err != nil {
				return nil, err
			}
			pause(5 * time.Minute) // nobody answers; what still runs, ends
			r.Loaded = e.Loaded()
		}
		if tr.Stuck {
			e.Cancel(tr.Turn)
			<-tr.Done
		}
		tr.State, tr.Open = a.State()
		pause(3 * time.Second)
		tr.Later, _ = a.State()
		if !open || act == Kill || tr.Stuck {
			break
		}
	}
	if open {
		r.ServeErr = e.Close()
	}
	r.Heard, r.Said = a.Heard(), a.Said()
	network.Sever()
	a.Close()
	return r, nil
}

// killBridge kills a bridge, and makes of its options those of one that loads its session: with a network of
// its own, which is returned, and with a copy of what was on the disk, since the killed one may still write.
func killBridge(e *editor.Editor, opts *editor.Options, network *memnet.Network, from, to string) (*memnet.Network, error) {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return nil, err
	}
	network.Sever()
	synctest.Wait() // what it did last is heard
	e.Terminate()
	_ = e.Close() // it was killed
	fresh := &memnet.Network{Handler: network.Handler}
	opts.Network, opts.Session = fresh, e.Session()
	var err error
	opts.Store, err = store.Open(to)
	return fresh, err
}

// A moment is when the agent has said so many steps.
type moment struct {
	mu      sync.Mutex
	steps   int
	reached chan struct{}
}

func (m *moment) at(steps int) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps, m.reached = steps, make(chan struct{})
	return m.reached
}

func (m *moment) said(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n == m.steps && m.reached != nil {
		close(m.reached)
	}
}

func pause(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
}

// follow waits for the end of a turn, or for the moment of the user's act.
func follow(t *PlayedTurn, reached <-chan struct{}, act Act) ActKind {
	if act.Kind == None {
		reached = nil
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-reached:
		pause(act.After)
		t.Acted = time.Now()
		return act.Kind
	case <-t.Done:
	case <-limit.C:
		t.Stuck = true
	}
	return None
}

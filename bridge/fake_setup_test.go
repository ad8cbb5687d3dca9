package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A fakeLogin of a transcript goes the ways that its line names, until the user says no.
type fakeLogin struct {
	ways []string
	done chan struct{} // closed by "U> done"
	log  func(string)
}

func (*fakeLogin) Methods(bool) []acp.AuthMethod { return []acp.AuthMethod{{ID: "sign-in"}} }
func (*fakeLogin) SignOut(context.Context) error { return nil }

func (l *fakeLogin) Needed(context.Context, *a2a.Card) error {
	if l.ways[0] != "slow" {
		return nil
	}
	<-time.After(2 * time.Second)
	return context.DeadlineExceeded
}

func (l *fakeLogin) SignIn(ctx context.Context, user bridge.Asker) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // ends with the sign-in
		select {
		case <-l.done:
			stop()
		case <-ctx.Done():
		}
	}()
	for _, way := range l.ways {
		var yes bool
		var err error
		switch way {
		case "slow":
			continue
		case "confirm":
			yes, err = user.Confirm(ctx, "Go there?")
		case "open":
			yes, err = user.Open(ctx, "Sign in", "https://id.example/")
		}
		if l.log(fmt.Sprintf("L< %s: %t %v", way, yes, err)); !yes {
			break
		}
	}
	select {
	case <-l.done:
		return nil
	default:
		return errors.New("not signed in")
	}
}

// A fakeHook is the only address for pushes, to which P> lines go.
type fakeHook struct {
	pushed   chan struct{}
	payloads chan []byte
}

func newHook() fakeHook { return fakeHook{make(chan struct{}, 1), make(chan []byte, 4)} }

func (h fakeHook) Open(string) bridge.Webhook { return h }
func (h fakeHook) Name() string               { return "hook" }
func (h fakeHook) Config() a2a.PushConfig     { return a2a.PushConfig{URL: "http://hook.invalid/"} }
func (h fakeHook) Pushed() <-chan struct{}    { return h.pushed }
func (h fakeHook) Close()                     {}

func (h fakeHook) Take() (payloads [][]byte) {
	for len(h.payloads) > 0 {
		payloads = append(payloads, <-h.payloads)
	}
	return payloads
}

func (h fakeHook) push(payloads string) {
	for payload := range strings.SplitSeq(payloads, " then ") {
		h.payloads <- []byte(payload)
		select {
		case h.pushed <- struct{}{}:
		default:
		}
	}
}

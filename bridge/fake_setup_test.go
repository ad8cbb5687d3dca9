package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/test/must"
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

// fakeAgents are one, "absent", that cannot be opened, for this reason; "held": it takes for ever.
type fakeAgents string

func (fakeAgents) Names() ([]string, error) { return []string{"absent"}, nil }
func (a fakeAgents) Open(ctx context.Context, _ string) (*bridge.Agent, error) {
	if a == "held" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, errors.New(string(a))
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

// breakJournal puts a directory in the place of the only journal, or takes that away again.
func breakJournal(t *testing.T, dir string, breaks bool) {
	journal := must.Get(filepath.Glob(filepath.Join(dir, "sessions", "*", "journal.jsonl")))(t)[0]
	if breaks {
		must.Do(t, errors.Join(os.Rename(journal, journal+".aside"), os.Mkdir(journal, 0o700)))
		return
	}
	must.Do(t, errors.Join(os.Remove(journal), os.Rename(journal+".aside", journal)))
}

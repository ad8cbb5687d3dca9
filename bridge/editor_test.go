package bridge

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport"
)

// TestCardIsKnown: if the card is known, initialize is answered before the agent is
// contacted.
func TestCardIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const agent = "http://agent.example/"
		s := must.Get(store.Open(t.TempDir()))(t)
		t.Cleanup(s.Wait)
		must.Do(t, s.PutCardFacts(agent, &store.CardFacts{Name: "known"}))
		var asked atomic.Int64
		client := must.Get(transport.NewClient(agent, &transport.ClientOptions{RoundTripper: roundTripper(func(*http.Request) (*http.Response, error) {
			asked.Add(1)
			return nil, errors.New("nobody is there")
		})}))(t)
		defer client.Close()
		in, editor := io.Pipe()
		answers, out := io.Pipe()
		done := make(chan error, 1)
		go func() { // ends with its input
			done <- Serve(t.Context(), in, out, &Options{Client: client, Store: s, Name: agent})
		}()
		_, _ = io.WriteString(editor, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`+"\n")
		synctest.Wait()
		if n := asked.Load(); n != 0 {
			t.Errorf("%d requests before the answer was read", n)
		}
		line, err := bufio.NewReader(answers).ReadString('\n')
		if err != nil || !strings.Contains(line, `"known"`) {
			t.Errorf("%s %v", line, err)
		}
		synctest.Wait()
		if asked.Load() == 0 {
			t.Error("the agent was not contacted")
		}
		editor.Close()
		must.Do(t, <-done)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A session rests when its last turn is over, also where a form has put another turn in
// the place of the one that was waited for.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewAgent(&Options{}).NewSession("/")
		turn := must.Get(s.Begin())(t)
		rested := make(chan struct{})
		go func() {
			s.rest()
			close(rested)
		}()
		synctest.Wait()
		turn = turn.next()
		synctest.Wait()
		select {
		case <-rested:
			t.Error("it rests while the next turn runs")
		default:
		}
		turn.Discard()
		<-rested
	})
}

// A cancel between turns is a turn: a prompt that is read right behind it waits for that, and is
// no answer to what was asked.
func TestCancelBetween(t *testing.T) {
	s := NewAgent(&Options{}).NewSession("/")
	w := &watcher{session: s, stop: func() {}}
	s.watching = w
	s.Cancel()
	s.queues = true
	prompt, err := s.Begin()
	if err != nil || prompt.up == nil {
		t.Fatalf("the prompt does not wait for the cancel: %v", err)
	}
	turn, cancels, ok := w.takeUp(true)
	if !ok || !cancels {
		t.Fatal("the cancel is lost")
	}
	turn.Discard()
	<-prompt.up
	prompt.Discard()
}

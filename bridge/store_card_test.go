package bridge

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/a2astdio/a2astdio/transport"
)

// TestStoreCardFacts: what initialize needs of a card is kept from process to
// process; a damaged file is as good as none.
func TestStoreCardFacts(t *testing.T) {
	s := openStore(t)
	const agent = "http://agent.example/../x"
	if s.facts(agent) != nil {
		t.Error("facts of an agent that was never met")
	}
	want := cardFacts{Name: "é", Image: true}
	if err := s.putFacts(agent, &want); err != nil {
		t.Fatal(err)
	}
	later, err := OpenStore(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := later.facts(agent); got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if later.facts("http://other.example/") != nil {
		t.Error("another agent has the same facts")
	}
	if err := os.WriteFile(s.cardFile(agent), []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.facts(agent) != nil {
		t.Error("a damaged file has facts")
	}
	var none *Store
	if none.facts(agent) != nil || none.putFacts(agent, &want) != nil {
		t.Error("no store is no place for a card")
	}
}

// TestStoreCardFirst: an editor that has not been answered yet does not wait for
// the agent: it is not contacted before the answer is written.
func TestStoreCardFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const agent = "http://agent.example/"
		s := openStore(t)
		if err := s.putFacts(agent, &cardFacts{Name: "known"}); err != nil {
			t.Fatal(err)
		}
		var asked atomic.Int64
		client, err := transport.NewClient(agent, &transport.ClientOptions{RoundTripper: roundTripper(func(*http.Request) (*http.Response, error) {
			asked.Add(1)
			return nil, errors.New("nobody is there")
		})})
		if err != nil {
			t.Fatal(err)
		}
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
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

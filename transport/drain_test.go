package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/a2astdio/a2astdio/internal/poison"
	"github.com/a2astdio/a2astdio/internal/test/memnet"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// piped is a client of an agent in memory, whose streams go on if more returns true. end
// ends both.
func piped(t *testing.T, more func(*http.Request) bool) (c *Client, end func()) {
	network := &memnet.Network{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"name":"Piped","url":"/"}`)
			return
		}
		io.Copy(io.Discard, r.Body)
		wireSSE(sseWorking)(w, r)
		w.(http.Flusher).Flush()
		if more(r) {
			io.WriteString(w, sseCompleted)
		}
	})}
	c = must.Get(NewClient("http://agent.example", &ClientOptions{RoundTripper: poison.RoundTripper{RoundTripper: network}}))(t)
	must.Equal(t, c.poison, true)
	return c, func() {
		c.Close()
		network.Sever()
	}
}

// Events that are no longer valid are overwritten here; their clones are not.
func TestPoison(t *testing.T) {
	next := make(chan bool)
	c, end := piped(t, func(*http.Request) bool { return <-next })
	defer end()
	s := must.Get(c.Send(t.Context(), hello()))(t)
	events := must.Get(s.Read())(t)
	id, clone := events[0].TaskID, events[0].Clone()
	next <- true
	must.Get(s.Read())(t)
	if id != "\xAA" || clone.TaskID != "t" || events[0].Kind != a2a.EventUnknown {
		t.Errorf("kept %q, cloned %q, %v", id, clone.TaskID, events[0].Kind)
	}
}

// A drained stream keeps its connection: until it ends, or until Close.
func TestDrain(t *testing.T) { synctest.Test(t, testDrain) }

func testDrain(t *testing.T) {
	next, gone := make(chan bool), make(chan bool, 2)
	c, end := piped(t, func(r *http.Request) bool {
		select {
		case <-next:
			gone <- false
			return true
		case <-r.Context().Done():
			gone <- true
			return false
		}
	})
	defer end()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := c.Send(ctx, hello())
	must.Do(t, err)
	must.Get(s.Read())(t)
	blocked := make(chan error)
	go func() { // ends when the stream does
		_, err := wireReadAll(s)
		blocked <- err
	}()
	synctest.Wait() // it reads
	s.Drain()
	s.Drain()
	cancel()
	s.Close()
	next <- true
	if <-gone {
		t.Error("the connection was closed")
	}
	if err := <-blocked; !errors.Is(err, ErrEnded) {
		t.Errorf("Read after Drain: %v", err)
	}
	// The second is ended by Close.
	if s, err = c.Send(t.Context(), hello()); err != nil {
		t.Fatal(err)
	}
	s.Drain()
	c.Close()
	if !<-gone {
		t.Error("the connection was not closed")
	}
	if _, err := c.Send(t.Context(), hello()); !errors.Is(err, ErrEnded) {
		t.Errorf("Send after Close: %v", err)
	}
}

// TestHangUp: the connection is closed so that the agent stops, but not if it has
// carried another context's message: Gemini's server would stop that, too.
func TestHangUp(t *testing.T) {
	heard := make(chan string, 8)
	agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
		wireSSE(`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}}`+"\n\n")(w, r)
		w.(http.Flusher).Flush()
		if r.Header.Get("Short") == "" {
			<-r.Context().Done() // net/http's server takes the end of the connection for this
			heard <- "stopped"
		}
	})
	send := func(c *Client, context string) *Stream {
		s := must.Get(c.Send(t.Context(), &a2a.Outgoing{ID: "m", ContextID: context, Parts: []a2a.OutPart{{Text: "x"}}}))(t)
		must.Get(s.Read())(t)
		return s
	}
	alone := send(wireClient(t, agent.URL, nil), "a")
	if !alone.HangUp() {
		t.Error("a connection of its own was not ended")
	}
	<-heard

	c := wireClient(t, agent.URL, &ClientOptions{Header: http.Header{"Short": {"1"}}})
	first := send(c, "a")
	for _, err := first.Read(); err == nil; _, err = first.Read() {
	}
	if second := send(c, "b"); second.HangUp() {
		t.Error("a connection that has carried another context's message was ended")
	}
}

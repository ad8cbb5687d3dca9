package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/poison"
)

// Nothing is left behind, and nothing depends on the clock of the machine.
func TestNoGoroutineIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				io.WriteString(w, `{"name":"Piped","url":"/"}`)
				return
			}
			io.Copy(io.Discard, r.Body)
			wireSSE(sseWorking)(w, r)
			w.(http.Flusher).Flush()
			select {
			case <-time.After(time.Hour):
				io.WriteString(w, sseCompleted)
			case <-r.Context().Done():
			}
		})}
		go server.Serve(l) // ends with server.Close
		rt := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }}
		c, err := NewClient("http://agent.example", &ClientOptions{RoundTripper: poison.RoundTripper{RoundTripper: rt}})
		if err != nil || !c.poison {
			t.Fatal(err, c)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var streams []*Stream
		for range 4 {
			s, err := c.Send(ctx, hello())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Read(); err != nil {
				t.Fatal(err)
			}
			streams = append(streams, s)
		}
		streams[0].Drain()
		streams[1].Close()
		if events, err := wireReadAll(streams[2]); fmt.Sprint(events) != "[3 completed]" || err != io.EOF {
			t.Error(events, err)
		}
		s, err := c.Send(ctx, hello())
		if err != nil {
			t.Fatal(err)
		}
		s.Drain()
		cancel()
		c.Close()
		rt.CloseIdleConnections()
		server.Close()
		synctest.Wait()
	})
}

// A pipeListener carries HTTP within a synctest bubble.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error { l.once.Do(func() { close(l.done) }); return nil }

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// A drained stream keeps its connection: until it ends, or until Close.
func TestDrain(t *testing.T) { synctest.Test(t, testDrain) }

func testDrain(t *testing.T) {
	l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
	next := make(chan bool)
	gone := make(chan bool, 2)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"name":"Piped","url":"/"}`)
			return
		}
		io.Copy(io.Discard, r.Body)
		wireSSE(sseWorking)(w, r)
		w.(http.Flusher).Flush()
		select {
		case <-next:
			io.WriteString(w, sseCompleted)
			gone <- false
		case <-r.Context().Done():
			gone <- true
		}
	})}
	go server.Serve(l) // ends with server.Close
	defer server.Close()
	rt := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }}
	defer rt.CloseIdleConnections()
	c := wireClient(t, "http://agent.example", &ClientOptions{RoundTripper: rt})
	ctx, cancel := context.WithCancel(t.Context())
	s, err := c.Send(ctx, hello())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(); err != nil {
		t.Fatal(err)
	}
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

// An event that cannot be read ends the stream, even if it comes together with a good
// one and the agent leaves the stream open.
func TestMalformedBehindAnEvent(t *testing.T) {
	agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, sseWorking+"data: {\"jsonrpc\":,}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	c := wireClient(t, agent.URL, nil)
	s, err := c.Send(t.Context(), hello())
	if err != nil {
		t.Fatal(err)
	}
	if events, err := s.Read(); len(events) != 1 || err != nil {
		t.Fatal(events, err)
	}
	for len(s.readToken) == 0 {
		runtime.Gosched() // until the rest is drained
	}
	failed := make(chan error, 1)
	go func() { // ends with the test, at the latest
		_, err := s.Read()
		failed <- err
	}()
	select {
	case err := <-failed:
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the reader waits for ever")
	}
	c.Close()
}

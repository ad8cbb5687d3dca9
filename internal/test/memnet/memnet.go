// Package memnet is a network in memory between an HTTP client and a handler, for tests.
// All that waits in it waits durably, so it may be used in bubbles of testing/synctest.
package memnet

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
)

// A Network is an [http.RoundTripper] that hands requests to a handler. The handler runs
// in a goroutine of its own. What it writes can be read at once; a panic with
// [http.ErrAbortHandler] breaks the connection, also before the response's head.
type Network struct {
	Handler http.Handler

	mu      sync.Mutex
	severed bool
	number  int
	stops   map[int]context.CancelFunc
	serving sync.WaitGroup
}

// Sever breaks all connections, and refuses further ones.
func (n *Network) Sever() {
	n.mu.Lock()
	n.severed = true
	stops := n.stops
	n.stops = nil
	n.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}

// Wait waits until all handlers have returned.
func (n *Network) Wait() { n.serving.Wait() }

// RoundTrip implements [http.RoundTripper].
func (n *Network) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, stop := context.WithCancel(r.Context())
	n.mu.Lock()
	refused := n.severed
	if !refused {
		if n.stops == nil {
			n.stops = map[int]context.CancelFunc{}
		}
		n.number++
		id := n.number
		n.stops[id] = stop
		context.AfterFunc(ctx, func() { n.forget(id) })
	}
	n.mu.Unlock()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	if refused {
		stop()
		r.Body.Close() // unread: nothing of it was sent
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: syscall.ECONNREFUSED}
	}
	a := &answer{request: r, header: http.Header{}, head: make(chan struct{}), body: body{ctx: ctx, stop: stop, more: make(chan struct{}, 1)}}
	n.serving.Go(func() { a.serve(n.Handler, r.WithContext(ctx)) }) // ends with the handler, whose context ends with the body
	select {
	case <-a.head:
	case <-ctx.Done():
		select { // the handler may have answered in this moment
		case <-a.head:
		default:
			return nil, ctx.Err()
		}
	}
	if a.status == 0 {
		stop()
		return nil, &net.OpError{Op: "read", Net: "memory", Err: syscall.ECONNRESET}
	}
	return &http.Response{StatusCode: a.status, Status: http.StatusText(a.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.sent, Body: &a.body, ContentLength: -1, Request: r}, nil
}

func (n *Network) forget(id int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.stops, id)
}

// An answer is the [http.ResponseWriter] of a request.
type answer struct {
	request *http.Request
	header  http.Header
	sent    http.Header
	status  int
	head    chan struct{} // closed when the head is written, or never will be
	body    body
}

func (a *answer) serve(h http.Handler, r *http.Request) {
	defer r.Body.Close()
	err := io.EOF
	defer func() {
		if x := recover(); x == http.ErrAbortHandler {
			err = syscall.ECONNRESET
		} else if x != nil {
			panic(x)
		} else if a.status == 0 {
			a.WriteHeader(http.StatusOK)
		}
		a.body.end(err)
		if a.status == 0 {
			close(a.head)
		}
	}()
	h.ServeHTTP(a, r)
}

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status, a.sent = status, a.header.Clone()
		close(a.head)
	}
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	return a.body.write(p)
}

// Flush implements [http.Flusher]: nothing is held back.
func (a *answer) Flush() {}

// A body is the way of a response's bytes.
type body struct {
	ctx  context.Context
	stop context.CancelFunc
	more chan struct{} // has a token when there is something to read

	mu  sync.Mutex
	buf []byte
	err error
}

func (b *body) wake() {
	select {
	case b.more <- struct{}{}:
	default:
	}
}

func (b *body) write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return 0, b.ctx.Err()
	}
	b.buf = append(b.buf, p...)
	b.wake()
	return len(p), nil
}

func (b *body) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
	b.wake()
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	for {
		b.mu.Lock()
		if len(b.buf) > 0 {
			n := copy(p, b.buf)
			b.buf = b.buf[n:]
			b.mu.Unlock()
			return n, nil
		}
		err := b.err
		b.mu.Unlock()
		if err != nil {
			b.stop()
			return 0, err
		}
		select {
		case <-b.more:
		case <-b.ctx.Done():
			return 0, b.ctx.Err()
		}
	}
}

// Close implements [io.Closer].
func (b *body) Close() error {
	b.stop()
	return nil
}

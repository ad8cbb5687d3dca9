// Package pipenet is a network of one host in memory, for an [http.Server] and for
// [http.Transport.DialContext].
//
// [Serve] starts a goroutine that serves, and returns what ends it and waits for it.
package pipenet

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// A Listener has connections that are [net.Pipe]s: a write returns when it was read, and in
// a bubble of testing/synctest they block durably.
type Listener struct {
	conns chan net.Conn
	open  context.Context
	end   context.CancelFunc
}

// Listen returns a listener. The caller closes it.
func Listen() *Listener {
	l := &Listener{conns: make(chan net.Conn)}
	l.open, l.end = context.WithCancel(context.Background())
	return l
}

// Serve serves a handler. end cuts all connections, and refuses new ones.
func Serve(handler http.Handler) (l *Listener, end func() error) {
	l = Listen()
	server, serving := &http.Server{Handler: handler}, sync.WaitGroup{}
	serving.Go(func() { _ = server.Serve(l) }) // ends with the listener
	return l, func() error {
		l.Close() // the server may not have begun to serve it
		defer serving.Wait()
		return server.Close()
	}
}

// Dial connects, whatever the address.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.open.Done():
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.open.Done():
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *Listener) Close() error {
	l.end()
	return nil
}

// Addr implements [net.Listener].
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }

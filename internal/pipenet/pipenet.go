// Package pipenet is a network of one host in memory, for an [http.Server] and for
// [http.Transport.DialContext].
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
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Listen returns a listener. The caller closes it.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Serve serves a handler. end cuts all connections, and refuses new ones.
func Serve(handler http.Handler) (l *Listener, end func() error) {
	l = Listen()
	server, served := &http.Server{Handler: handler}, make(chan struct{})
	go func() { // ends with the listener
		defer close(served)
		_ = server.Serve(l)
	}()
	return l, func() error {
		l.Close() // the server may not have begun to serve it
		defer func() { <-served }()
		return server.Close()
	}
}

// Dial connects, whatever the address.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
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
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements [net.Listener].
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }

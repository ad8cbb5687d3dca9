// Package memnet is a network in memory between an HTTP client and a handler, for tests.
// All that waits in it waits durably, so it may be used in bubbles of testing/synctest.
//
// Its goroutines are pipenet's: [Network.Sever] ends them.
package memnet

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/a2astdio/a2astdio/internal/pipenet"
)

// A Network is an [http.RoundTripper] that hands requests to a handler.
type Network struct {
	Handler http.Handler

	once    sync.Once
	severed atomic.Bool
	client  http.Transport
	end     func() error
}

// Sever breaks all connections, and refuses further ones.
func (n *Network) Sever() {
	n.severed.Store(true)
	n.once.Do(n.begin)
	_ = n.end() // there is nothing to fail
	n.client.CloseIdleConnections()
}

func (n *Network) begin() {
	listener, end := pipenet.Serve(n.Handler)
	n.client.DialContext, n.end = listener.Dial, end
}

// RoundTrip implements [http.RoundTripper].
func (n *Network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.once.Do(n.begin)
	if n.severed.Load() {
		if r.Body != nil {
			r.Body.Close() // unread: nothing of it was sent
		}
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: syscall.ECONNREFUSED}
	}
	return n.client.RoundTrip(r)
}

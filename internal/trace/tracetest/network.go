package tracetest

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Network is an in-memory network with one server, for a bubble of testing/synctest. It
// ends with the test.
func Network(t *testing.T, handler http.Handler) *http.Transport {
	n := &network{accept: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: handler}
	served := make(chan struct{})
	go func() { // ends when the test does
		defer close(served)
		_ = server.Serve(n)
	}()
	transport := &http.Transport{DialContext: n.dial, MaxIdleConnsPerHost: 100, DisableCompression: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		n.Close()
		server.Close()
		<-served
	})
	return transport
}

type network struct {
	accept chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case n.accept <- server:
		return client, nil
	case <-n.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.accept:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error   { n.once.Do(func() { close(n.closed) }); return nil }
func (n *network) Addr() net.Addr { return &net.TCPAddr{} }

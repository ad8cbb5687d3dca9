package demo

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// PipeURL is an agent's URL behind a [Pipe]. The host resolves nowhere, so that a
// client that does not dial through the pipe finds nothing.
const PipeURL = "http://demo.invalid/"

// A Pipe is an in-memory network with one host: every dial leads to the agent. Its
// connections are [net.Pipe]s, which, unlike sockets, block durably in a
// testing/synctest bubble.
type Pipe struct {
	server *http.Server
	accept chan net.Conn
	once   sync.Once
	closed chan struct{}
	served chan struct{} // closed when Serve has returned
}

// Pipe serves the agent in memory until the pipe is closed. Closing either does not
// close the other. A pipe has one goroutine, and two for each connection.
func (a *Agent) Pipe() *Pipe {
	p := &Pipe{
		server: &http.Server{Handler: a},
		accept: make(chan net.Conn),
		closed: make(chan struct{}),
		served: make(chan struct{}),
	}
	// Ends when Close closes the listener.
	go func() {
		defer close(p.served)
		_ = p.server.Serve(pipeListener{p})
	}()
	return p
}

// DialContext connects to the agent, whatever the address; it is meant for
// [http.Transport.DialContext].
func (p *Pipe) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	client, server := net.Pipe()
	var err error
	select {
	case p.accept <- server:
		return client, nil
	case <-p.closed:
		err = net.ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	client.Close()
	server.Close()
	return nil, fmt.Errorf("dial %s by the demo agent's pipe: %w", addr, err)
}

// Close cuts every connection and refuses new ones. It may be called twice.
func (p *Pipe) Close() error {
	var err error
	p.once.Do(func() {
		close(p.closed)
		err = p.server.Close()
		<-p.served
	})
	return err
}

// A pipeListener is the accepting end of a Pipe.
type pipeListener struct{ p *Pipe }

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.p.accept:
		return c, nil
	case <-l.p.closed:
		return nil, net.ErrClosed
	}
}

// Close does nothing: only Pipe.Close ends the server.
func (pipeListener) Close() error { return nil }

func (pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "demo.invalid" }

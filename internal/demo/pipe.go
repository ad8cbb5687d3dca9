package demo

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// PipeURL is where an agent is behind a [Pipe]: the host resolves nowhere, so a
// client that forgets to dial by the pipe finds nothing rather than something else.
const PipeURL = "http://demo.invalid/"

// A Pipe is a network of one host, in memory: every dial leads to the agent. Its
// connections are [net.Pipe] ones, which block durably in a testing/synctest
// bubble, as sockets do not.
type Pipe struct {
	server *http.Server
	accept chan net.Conn
	once   sync.Once
	closed chan struct{}
	served chan struct{} // closed when Serve has returned
}

// Pipe serves the agent in memory until the pipe is closed. Closing the pipe does
// not close the agent, nor the other way round; a pipe costs two goroutines a
// connection and one of its own.
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

// DialContext connects to the agent, whatever the address. It is what
// [http.Transport.DialContext] wants.
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

// Close has nothing to do: Pipe.Close is the only one that ends the server.
func (pipeListener) Close() error { return nil }

func (pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "demo.invalid" }

package mcphttp

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

// MaxStrangers bounds the connections that have shown no token. Anybody on the machine
// can open some, and files are limited; a client shows the token with its first request.
const MaxStrangers = 256

// strangers are these connections, the oldest first. Beyond the limit the oldest is
// closed, so that they keep no client out.
type strangers struct {
	mu    sync.Mutex
	conns []net.Conn
}

// state is [http.Server.ConnState].
func (s *strangers) state(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conns = append(s.conns, c)
		if len(s.conns) > MaxStrangers {
			s.conns[0].Close()
			s.conns = slices.Delete(s.conns, 0, 1)
		}
	case http.StateClosed, http.StateHijacked:
		s.forget(c)
	}
}

func (s *strangers) forget(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.conns, c); i >= 0 {
		s.conns = slices.Delete(s.conns, i, i+1)
	}
}

type connKey struct{}

// connOf is [http.Server.ConnContext]: a request knows its connection.
func connOf(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// known takes a request's connection from among the strangers.
func (s *strangers) known(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		s.forget(c)
	}
}

package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

const (
	// headerTimeout bounds how long a request's head may take, idleTime how long a
	// connection may wait for the next request. Agents are faster.
	headerTimeout = 5 * time.Second
	idleTime      = time.Minute
	maxHeader     = 16 << 10
	// closeWait bounds how long requests may take to end when the server is closed.
	closeWait = 2 * time.Second
)

// A Server listens for pushes.
type Server struct {
	http     *http.Server
	listener net.Listener
	served   chan struct{}
}

// Listen serves a handler at a TCP address until the Server is closed. An address
// without a host is on the loopback interface. A tunnel or a proxy in front speaks TLS.
// (Not internal/trace/local: it refuses requests to other names, and here a proxy's name
// is right.)
func Listen(addr string, handler http.Handler) (*Server, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	return serve(listener, handler), nil
}

func serve(listener net.Listener, handler http.Handler) *Server {
	s := &Server{listener: listener, served: make(chan struct{}), http: &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: pushTimeout, WriteTimeout: 2 * pushTimeout,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0),
	}}
	go func() { // ends with Close
		defer close(s.served)
		_ = s.http.Serve(s.listener)
	}()
	return s
}

// URL is the Server's URL on this machine.
func (s *Server) URL() string {
	host, port, _ := net.SplitHostPort(s.listener.Addr().String()) // a TCP address has both
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// Close ends the Server once the running requests have ended.
func (s *Server) Close() error {
	ctx, stop := context.WithTimeout(context.Background(), closeWait)
	defer stop()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	<-s.served
	return err
}

package webhook

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// headerTimeout bounds how long a request's head may take, idleTime how long a
	// connection may wait for the next request. Agents are faster.
	headerTimeout = 5 * time.Second
	idleTime      = time.Minute
	maxHeader     = 16 << 10
	// maxConns bounds open connections; further ones wait in the kernel's queue, which is
	// bounded too.
	maxConns = 512
	// closeWait bounds how long requests may take to end when the server is closed.
	closeWait = 2 * time.Second
)

// A Server listens for pushes.
type Server struct {
	http     *http.Server
	listener net.Listener
	secure   bool
	served   chan struct{}
}

// Listen serves a handler at a TCP address until the Server is closed. An address
// without a host is on the loopback interface. With files for a certificate and its key
// it speaks TLS.
func Listen(addr, certFile, keyFile string, timeout time.Duration, handler http.Handler) (*Server, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	host = cmp.Or(host, "127.0.0.1")
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	s := &Server{served: make(chan struct{}), http: &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout + timeout, WriteTimeout: headerTimeout + 2*timeout,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0),
	}}
	if certFile != "" || keyFile != "" {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, fmt.Errorf("webhook: the certificate: %w", err)
		}
		s.http.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
		s.secure = true
	}
	if s.listener, err = net.Listen("tcp", net.JoinHostPort(host, port)); err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	limited := &limitListener{Listener: s.listener, slots: make(chan struct{}, maxConns), closed: make(chan struct{})}
	go func() { // ends with Close
		defer close(s.served)
		if s.secure {
			_ = s.http.ServeTLS(limited, "", "")
		} else {
			_ = s.http.Serve(limited)
		}
	}()
	return s, nil
}

// URL is the Server's URL on this machine.
func (s *Server) URL() string {
	scheme := "http"
	if s.secure {
		scheme = "https"
	}
	host, port, _ := net.SplitHostPort(s.listener.Addr().String()) // a TCP address has both
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
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

// A limitListener accepts at most as many connections as it has slots.
type limitListener struct {
	net.Listener
	slots  chan struct{}
	once   sync.Once
	closed chan struct{}
}

// Accept implements [net.Listener].
func (l *limitListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: conn, leave: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close implements [net.Listener].
func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	leave func()
}

// Close implements [net.Conn].
func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

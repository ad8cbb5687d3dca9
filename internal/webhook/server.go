package webhook

import (
	"cmp"
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
)

// Listen serves a handler at a TCP address until end is called; at is its URL on this
// machine. An address without a host is on the loopback interface. A tunnel or a proxy in
// front speaks TLS. (Not internal/trace/local: it refuses requests to other names, and here
// a proxy's name is right.)
func Listen(addr string, handler http.Handler) (at string, end func() error, err error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", nil, fmt.Errorf("webhook: %w", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	if err != nil {
		return "", nil, fmt.Errorf("webhook: %w", err)
	}
	host, port, _ = net.SplitHostPort(listener.Addr().String()) // a TCP address has both
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port), serve(listener, handler), nil
}

// serve serves until end is called, which takes the connections with it: the turns that
// wait for pushes are over by then.
func serve(listener net.Listener, handler http.Handler) (end func() error) {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: pushTimeout, WriteTimeout: 2 * pushTimeout,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0),
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // ends with end
	return func() error {
		err := server.Close()
		serving.Wait()
		return err
	}
}

package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// headerTimeout bounds how long a request's head may take. Bodies and streams have no
// limit.
const headerTimeout = 10 * time.Second

// Listen serves the agent at a TCP address until ctx ends, and then returns nil.
// An address without a host is on the loopback interface; an empty one has any
// free port, too. ready, which may be nil, is called once with the URL.
//
// Anybody who reaches the address can write files below the workspace, and a web page
// can reach a loopback address through its reader's browser: by a request of another
// origin, or by a name that resolves to 127.0.0.1. So requests with a foreign Host or
// Origin are refused.
func (a *Agent) Listen(ctx context.Context, addr string, ready func(url string)) error {
	if addr == "" {
		addr = ":0"
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	url := "http://" + net.JoinHostPort(reachable(host), port) + "/"
	if a.gate.kind == AuthOAuth2 {
		a.gate.open(url)
	}
	server := &http.Server{Handler: guard(host, a), ReadHeaderTimeout: headerTimeout}
	closed := make(chan struct{})
	// Ends with ctx. If Serve fails first, it never starts.
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		server.Close()
	})
	if ready != nil {
		ready(url)
	}
	err = server.Serve(listener)
	if stop() {
		server.Close()
		return fmt.Errorf("demo: %w", err)
	}
	<-closed
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("demo: %w", err)
}

// reachable returns a host that a client on this machine can connect to.
func reachable(host string) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return "127.0.0.1"
	}
	return host
}

// guard refuses requests that a foreign web page may have caused.
func guard(bound string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ours(bound, r.Host) {
			httpError(w, http.StatusForbidden, fmt.Sprintf("the Host header %q does not name this server", r.Host))
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			if u, err := url.Parse(origin); err != nil || u.Scheme != "http" || !strings.EqualFold(u.Host, r.Host) {
				httpError(w, http.StatusForbidden, fmt.Sprintf("the Origin header %q is not this server's own", origin))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// ours reports whether a Host header names this server: by the name that it is bound
// to, or as this machine. A server bound to every interface may be called by any
// address. An attacker can only make a name lead here, not an address.
func ours(bound, header string) bool {
	host := header
	if h, _, err := net.SplitHostPort(header); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if strings.EqualFold(host, bound) || strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	if ip == nil {
		return false
	}
	all := net.ParseIP(bound)
	return ip.IsLoopback() || all != nil && all.IsUnspecified()
}

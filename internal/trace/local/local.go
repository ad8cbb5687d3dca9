// Package local serves HTTP on the loopback interface, and refuses requests that a
// foreign web page may have caused: those of another origin, and those to a name that
// resolves to 127.0.0.1.
package local

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// headerTimeout bounds how long a request's head may take. Bodies and streams have no
// limit.
const headerTimeout = 10 * time.Second

// Serve serves at a TCP address until ctx ends, and then returns nil. An address
// without a host is on the loopback interface; port 0 is any free port. handler is called
// once, with the server's URL, which takes connections from then on.
func Serve(ctx context.Context, addr string, handler func(url string) http.Handler) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	host = cmp.Or(host, "127.0.0.1")
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	shown := host
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		shown = "127.0.0.1" // which a client on this machine can connect to
	}
	base := "http://" + net.JoinHostPort(shown, port) + "/"
	server := &http.Server{Handler: guard(host, handler(base)), ReadHeaderTimeout: headerTimeout}
	defer context.AfterFunc(ctx, func() { server.Close() })() // ends with ctx, unless Serve fails first
	err = server.Serve(listener)
	server.Close() // with the connections, before this returns
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// guard refuses requests that a foreign web page may have caused.
func guard(bound string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isThisServer(bound, r.Host) {
			refuse(w, fmt.Sprintf("the Host header %q does not name this server", r.Host))
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			if u, err := url.Parse(origin); err != nil || u.Scheme != "http" || !strings.EqualFold(u.Host, r.Host) {
				refuse(w, fmt.Sprintf("the Origin header %q is not this server's own", origin))
				return
			}
		}
		// Browsers send no Origin with what loads images and the like, but this (Fetch Metadata).
		switch site := r.Header.Get("Sec-Fetch-Site"); site {
		case "", "none", "same-origin":
			next.ServeHTTP(w, r)
		default:
			refuse(w, "the request comes from a web page of another origin: Sec-Fetch-Site is "+site)
		}
	})
}

func refuse(w http.ResponseWriter, text string) {
	http.Error(w, text, http.StatusForbidden)
}

// isThisServer reports whether a Host header names this server: by the name that it is bound
// to, or as this machine. A server bound to every interface may be called by any
// address. An attacker can only make a name lead here, not an address.
func isThisServer(bound, header string) bool {
	host := header
	if h, _, err := net.SplitHostPort(header); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	all := net.ParseIP(bound)
	return strings.EqualFold(host, bound) || safe.ThisMachine(host) || net.ParseIP(host) != nil && all != nil && all.IsUnspecified()
}

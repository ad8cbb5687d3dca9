package transport

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// probeTime is how long Probe may take: its caller wants to know at once.
const probeTime = 500 * time.Millisecond

// Probe opens a connection to where the agent is called, and closes it unused. It
// returns why that failed, or nil. nil also means that it cannot be known: behind a
// proxy, with a RoundTripper of the caller's, or before the agent is known.
func (c *Client) Probe(ctx context.Context) error {
	c.mu.Lock()
	e := c.known
	c.mu.Unlock()
	if e == nil || e.err != nil || c.own == nil {
		return nil
	}
	u := e.now().url
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); proxy != nil || err != nil {
		return nil
	}
	port := cmp.Or(u.Port(), map[string]string{"https": "443"}[u.Scheme])
	port = cmp.Or(port, "80")
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	conn, err := c.own.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		cause, _ := Explain(err)
		return failf(errors.Join(ErrUnreachable, err), "%s: %s", shown(u), cause)
	}
	return conn.Close()
}

// IsRefused reports whether an error says that nobody listens where the agent was.
func IsRefused(err error) bool { return errors.Is(err, ErrUnreachable) && refused(err) }

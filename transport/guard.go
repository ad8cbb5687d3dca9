package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// idlePerHost is http.Transport's: each task of an agent may
	// hold a stream, and a connection that is closed because a pool was full
	// makes Gemini's server abort the task that it once carried. For the same
	// reason idle connections are never closed from our side.
	idlePerHost = 1024
	// pingAfter and pingTimeout find out that an HTTP/2 connection is dead; TCP
	// keep-alive does that for HTTP/1. A stream may be silent for minutes, so
	// nothing else would.
	pingAfter   = 30 * time.Second
	pingTimeout = 15 * time.Second
)

// newTransport is the http.Transport that is used if none is given.
func newTransport(timeout time.Duration, config *tls.Config, shared *sharedReads) *http.Transport {
	dialer := &net.Dialer{Timeout: timeout}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			shared.conns.Add(1)
			return &plainConn{Conn: conn, shared: shared, most: shared.most()}, nil
		},
		OnProxyConnectResponse: refusedByProxy,
		TLSClientConfig:        tlsConfig(config),
		TLSHandshakeTimeout:    timeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		MaxIdleConnsPerHost:    idlePerHost,
		ReadBufferSize:         mostRead,
		// A compressed event stream is held back until a block is full.
		DisableCompression: true,
	}
}

// tlsConfig is the configuration for connections to agents: TLS 1.2 at least. That is
// Go's default, too; it is set here because docs/security.md promises it.
func tlsConfig(given *tls.Config) *tls.Config {
	c := cmp.Or(given.Clone(), &tls.Config{})
	c.MinVersion = max(c.MinVersion, tls.VersionTLS12)
	return c
}

// unverified reports whether certificates of agents are not verified.
func unverified(c *tls.Config) bool {
	return c != nil && c.InsecureSkipVerify && c.VerifyConnection == nil && c.VerifyPeerCertificate == nil
}

// hasCertificate reports whether agents are shown one of the user's.
func hasCertificate(c *tls.Config) bool {
	return c != nil && (len(c.Certificates) > 0 || c.GetClientCertificate != nil)
}

// A guard is the innermost part of the client that is ours: requests that pass it go to
// the trace and to the network. It is not an http.Transport with options, and has no
// CloseIdleConnections, because retryablehttp calls that whenever it gives up on one
// request, which would close the connections of all the others (see idlePerHost).
//
// It adds the credentials, and not to the request that http.Client sees, so that no redirect
// can carry them anywhere else.
type guard struct {
	next        http.RoundTripper
	origins     *origins         // where requests may go, unless their operation says otherwise
	credentials CredentialSource // may be nil
	// header goes with each request: that of [ClientOptions.Header], with the user and the password of
	// the agent's URL.
	header atomic.Pointer[http.Header]
	// insecure: certificates are not verified, so that nothing may be shown to a
	// host that is not this machine.
	insecure bool
	// certificate: the agent is shown one of the user's.
	certificate bool
	// card is the newest, for credentials; nil until there is one.
	card atomic.Pointer[a2a.Card]
	// foreign: next is the caller's, and need not tell of its connections.
	foreign bool
}

// allowed is where a request may go.
func (g *guard) allowed(req *http.Request) *origins {
	return cmp.Or(exchangeOf(req.Context()).op.origins, g.origins)
}

// RoundTrip implements http.RoundTripper. It refuses a request to another origin, and repeats one
// whose credentials the agent has refused, once, if others can be had. A request's body needs no
// closing: it is in memory.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	x := exchangeOf(req.Context())
	if err := cmp.Or(g.allowed(req).check(req.URL, "a request leads to"), x.c.checkExited()); err != nil {
		return nil, err
	}
	if x.op.anonymous || g.credentials == nil {
		return g.send(x, req, nil)
	}
	cred, err := g.credentials(req.Context(), &Challenge{URL: req.URL, Card: g.card.Load()})
	if err != nil && req.Context().Err() == nil { // else the caller has given up, and reports that itself
		err = failf(errors.Join(ErrCredentials, err), "%s", strings.TrimPrefix(err.Error(), "agent: "))
	}
	if err != nil {
		return nil, err
	}
	resp, err := g.send(x, req, cred)
	next := g.another(x, resp, cred)
	if cause := req.Context().Err(); resp != nil && cause != nil { // the caller has given up meanwhile
		resp.Body.Close()
		return nil, cause
	}
	if next != nil {
		_, _ = io.CopyN(io.Discard, resp.Body, maxRefusal)
		resp.Body.Close()
		x.possiblyDelivered.Store(false)
		req = req.Clone(req.Context())
		if req.GetBody != nil {
			req.Body, _ = req.GetBody() // from memory
		}
		resp, err = g.send(x, req, next)
		g.another(x, resp, next) // for what the user can do
	}
	return resp, err
}

// another returns the credential to take in place of one that the agent has refused; nil if it has
// not, or if there is no other. Why there is none it notes in x.cure, for the error.
func (g *guard) another(x *exchange, resp *http.Response, refused *Credential) *Credential {
	if resp == nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return nil
	}
	next, err := g.credentials(resp.Request.Context(), &Challenge{
		URL: resp.Request.URL, Card: g.card.Load(), Status: resp.StatusCode, Refused: refused,
		Authenticate: resp.Header.Values("WWW-Authenticate"),
	})
	if err != nil {
		x.cure = strings.TrimPrefix(err.Error(), "agent: ")
	}
	if err != nil || next.Equal(refused) {
		return nil
	}
	return next
}

// send makes one request with a credential, nil for none, and with the user's header. The response's
// request is the given one, without either.
func (g *guard) send(x *exchange, given *http.Request, cred *Credential) (*http.Response, error) {
	req := given.Clone(httptrace.WithClientTrace(given.Context(), &httptrace.ClientTrace{GotConn: x.gotConn}))
	if !x.op.anonymous {
		header := *g.header.Load()
		if g.insecure && !safe.ThisMachine(req.URL.Hostname()) && (cred != nil || len(header) > 0 || g.certificate) {
			return nil, failf(nil, "certificates are not verified (--insecure), so your credentials are not sent to %s, which may be anybody: "+
				"--ca-file names the certificate to trust instead", req.URL.Host)
		}
		cred.put(req, header)
	}
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		if dial, ok := errors.AsType[*net.OpError](err); g.foreign && !(ok && dial.Op == "dial") {
			x.possiblyDelivered.Store(true)
		}
		return nil, err
	}
	resp.Request = given
	return resp, nil
}

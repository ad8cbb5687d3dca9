package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

const (
	// idlePerHost and readBuffer are http.Transport's: each task of an agent may
	// hold a stream, and a connection that is closed because a pool was full
	// makes Gemini's server abort the task that it once carried. For the same
	// reason idle connections are never closed from our side.
	idlePerHost = 1024
	readBuffer  = 64 << 10
	// pingAfter and pingTimeout find out that an HTTP/2 connection is dead; TCP
	// keep-alive does that for HTTP/1. A stream may be silent for minutes, so
	// nothing else would.
	pingAfter   = 30 * time.Second
	pingTimeout = 15 * time.Second
)

// newTransport is the http.Transport that is used if none is given.
func newTransport(timeout time.Duration, config *tls.Config) *http.Transport {
	dialer := &net.Dialer{Timeout: timeout}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &plainConn{Conn: conn}, nil
		},
		OnProxyConnectResponse: refusedByProxy,
		TLSClientConfig:        tlsConfig(config),
		TLSHandshakeTimeout:    timeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		MaxIdleConnsPerHost:    idlePerHost,
		ReadBufferSize:         readBuffer,
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

// A plainConn is a connection whose half the client can end: see [Stream.HangUp].
type plainConn struct {
	net.Conn
	// ended: a FIN was sent; the agent knows that nothing more comes from us.
	ended atomic.Bool
	// owner is the context of the messages that the connection has carried, shared
	// if there were several: Gemini's server ties each to it, also after the
	// response has ended.
	owner atomic.Pointer[string]
}

// shared is the owner of a connection that has carried messages of several contexts. No
// context has this name.
const shared = "\x00"

// carry notes that a message goes over the connection.
func (c *plainConn) carry(owner string) {
	owner = cmp.Or(owner, shared)
	if !c.owner.CompareAndSwap(nil, &owner) && *c.owner.Load() != owner {
		owner = shared
		c.owner.Store(&owner)
	}
}

// carriedOnly reports whether the connection has carried messages of one context, which is
// not "", and no others.
func (c *plainConn) carriedOnly(owner string) bool {
	is := c.owner.Load()
	return is != nil && *is == owner
}

// endWriting sends a FIN and goes on reading.
func (c *plainConn) endWriting() bool {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || c.ended.Swap(true) {
		return ok
	}
	return half.CloseWrite() == nil
}

func (c *plainConn) Write(p []byte) (int, error) {
	if c.ended.Load() {
		// net/http would take this connection for another request. That nothing
		// was written makes it take the next one.
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

// A guard is the innermost part of the client that is ours: requests that pass it go to
// the trace and to the network. It is not an http.Transport with options, and has no
// CloseIdleConnections, because retryablehttp calls that whenever it gives up on one
// request, which would close the connections of all the others (see idlePerHost).
type guard struct {
	next    http.RoundTripper
	origins *origins
	// wallet adds the credentials here, and not to the request that http.Client
	// sees, so that no redirect can carry them anywhere else.
	wallet wallet
	// foreign: next is of the caller's, and need not tell of its connections.
	foreign bool
}

// RoundTrip implements http.RoundTripper. A refusal of the credentials makes it
// repeat the request once, if others can be had.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	x := exchangeOf(req.Context())
	err := g.origins.check(req.URL, "a request leads to")
	if err == nil {
		err = x.c.checkExited()
	}
	if err != nil {
		closeBody(req)
		return nil, err
	}
	if x.op.bare {
		return g.send(req, nil)
	}
	cred, err := g.wallet.credential(req)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	for first := true; ; first = false {
		resp, err := g.send(req, cred)
		if err != nil {
			return nil, err
		}
		// Also of the second refusal: the error says what the user can do.
		next, err := g.wallet.answered(req, resp, cred)
		if err != nil {
			resp.Body.Close()
			return nil, err
		}
		if next == nil || !first {
			return resp, nil
		}
		_, _ = io.CopyN(io.Discard, resp.Body, maxRefusal)
		resp.Body.Close()
		x.begun.Store(false)
		req, cred = req.Clone(req.Context()), next
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// send makes one request. The response's request is the one that was to be made,
// without credentials.
func (g *guard) send(given *http.Request, cred *Credential) (*http.Response, error) {
	x := exchangeOf(given.Context())
	req := given.Clone(httptrace.WithClientTrace(given.Context(), &httptrace.ClientTrace{GotConn: x.gotConn}))
	if !x.op.bare {
		if err := g.wallet.put(req, cred); err != nil {
			closeBody(given)
			return nil, err
		}
	}
	if g.foreign && req.Body != nil && req.Body != http.NoBody {
		req.Body = &notedBody{req.Body, x}
		req.GetBody = nil // what may be repeated is decided in retry.go and in RoundTrip
	}
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Request = given
	return resp, nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// A notedBody notes that it was read.
type notedBody struct {
	io.ReadCloser
	x *exchange
}

func (b *notedBody) Read(p []byte) (int, error) {
	b.x.begun.Store(true)
	return b.ReadCloser.Read(p)
}

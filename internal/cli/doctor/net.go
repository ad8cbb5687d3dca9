package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"sync"
	"time"
)

// An observer notes what happens below the client's requests, on the connection that
// they use. A connection of its own could take another way, such as around a proxy.
type observer struct {
	mu    sync.Mutex
	hosts []*sight
	// cards are the URLs that documents came from.
	cards []string
}

// A sight is what was seen of one host.
type sight struct {
	host    string // with its port
	secure  bool
	proxy   string
	asked   bool // its name was looked up
	addrs   []string
	dnsErr  error
	to      string // the address that it is connected to
	dialErr error
	dialled time.Duration
	tls     *tls.ConnectionState
	tlsErr  error
	reached bool // a connection was made
}

// wrap puts the observer in front of a transport.
func (o *observer) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		s := o.sight(req)
		var begun time.Time
		note := func(f func()) {
			o.mu.Lock()
			defer o.mu.Unlock()
			f()
		}
		trace := &httptrace.ClientTrace{
			DNSStart: func(httptrace.DNSStartInfo) { note(func() { s.asked = true }) },
			DNSDone: func(info httptrace.DNSDoneInfo) {
				note(func() {
					s.dnsErr = info.Err
					for _, a := range info.Addrs {
						if !slices.Contains(s.addrs, a.String()) {
							s.addrs = append(s.addrs, a.String())
						}
					}
				})
			},
			ConnectStart: func(string, string) { note(func() { begun = time.Now() }) },
			ConnectDone: func(_, addr string, err error) {
				note(func() {
					if err == nil {
						s.to, s.dialErr, s.dialled = addr, nil, time.Since(begun)
					} else if s.to == "" {
						s.dialErr = err
					}
				})
			},
			TLSHandshakeDone: func(state tls.ConnectionState, err error) {
				note(func() { s.tls, s.tlsErr = &state, err })
			},
			GotConn: func(httptrace.GotConnInfo) { note(func() { s.reached = true }) },
		}
		resp, err := next.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
		if err == nil && req.Method == http.MethodGet && resp.StatusCode == http.StatusOK &&
			resp.Header.Get("Content-Type") != "text/event-stream" { // not a subscription
			note(func() { o.cards = append(o.cards, plainURL(req.URL)) })
		}
		return resp, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func (o *observer) sight(req *http.Request) *sight {
	proxy := ""
	if u, err := http.ProxyFromEnvironment(req); err == nil && u != nil {
		proxy = u.Redacted()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.hosts {
		if s.host == req.URL.Host && s.secure == (req.URL.Scheme == "https") {
			return s
		}
	}
	s := &sight{host: req.URL.Host, secure: req.URL.Scheme == "https", proxy: proxy}
	o.hosts = append(o.hosts, s)
	return s
}

// plainURL is a URL without its secret parts.
func plainURL(u *url.URL) string {
	c := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.RawQuery != "" {
		return c.String() + "?…"
	}
	return c.String()
}

// withoutProxy tells how to go around a proxy.
func (s *sight) withoutProxy() string {
	return "the way leads by the proxy " + s.proxy + " (HTTPS_PROXY, HTTP_PROXY): NO_PROXY=" + s.host + " goes without it"
}

// certificate returns the certificate that a host has shown, also a refused one.
func (s *sight) certificate() *x509.Certificate {
	var refused *tls.CertificateVerificationError
	switch {
	case errors.As(s.tlsErr, &refused) && len(refused.UnverifiedCertificates) > 0:
		return refused.UnverifiedCertificates[0]
	case s.tls != nil && len(s.tls.PeerCertificates) > 0:
		return s.tls.PeerCertificates[0]
	}
	return nil
}

// gaveUp reports whether the client, not the network, ended a connection.
func gaveUp(err error) bool { return errors.Is(err, context.Canceled) }

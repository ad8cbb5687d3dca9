package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport"
)

// An observer notes what happens below the client's requests, on the connection that
// they use. A connection of its own could take another way, such as around a proxy.
type observer struct {
	mu       sync.Mutex
	hosts    []*host
	document string // the URL of the last document
}

// A host is one that was asked, with what was seen of it.
type host struct {
	name   string // with its port
	secure bool
	proxy  string
	begun  time.Time
	to     string // the address that it is connected to
	took   time.Duration
	tls    *tls.ConnectionState
	err    error // of a request without a connection
}

// wrap puts the observer in front of a transport.
func (o *observer) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		s := o.of(req)
		note := func(f func()) {
			o.mu.Lock()
			defer o.mu.Unlock()
			f()
		}
		trace := &httptrace.ClientTrace{
			GetConn: func(string) { note(func() { s.begun = time.Now() }) },
			GotConn: func(c httptrace.GotConnInfo) {
				note(func() {
					if s.to == "" {
						s.to, s.took = c.Conn.RemoteAddr().String(), time.Since(s.begun)
					}
				})
			},
		}
		resp, err := next.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
		note(func() {
			switch {
			case err != nil && !errors.Is(err, context.Canceled): // else the client has ended it
				s.err = err
			case err == nil:
				s.tls = resp.TLS
				if req.Method == http.MethodGet && resp.StatusCode == http.StatusOK {
					o.document = safe.Shown(req.URL)
				}
			}
		})
		return resp, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// of returns the host of a request, a new one if it was not asked before.
func (o *observer) of(req *http.Request) *host {
	proxy := ""
	if u, err := http.ProxyFromEnvironment(req); err == nil && u != nil {
		proxy = u.Redacted()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.hosts {
		if s.name == req.URL.Host && s.secure == (req.URL.Scheme == "https") {
			return s
		}
	}
	s := &host{name: req.URL.Host, secure: req.URL.Scheme == "https", proxy: proxy}
	o.hosts = append(o.hosts, s)
	return s
}

func (o *observer) nobody() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.hosts) == 0
}

// soon is how long before a certificate ends doctor tells so.
const soon = 14 * 24 * time.Hour

// connectionStep reports what was seen below the requests to a host.
func (k *checkup) connectionStep(s *host) {
	if s.to == "" {
		cause, do := "nothing came about in time", "--timeout allows more; a firewall that drops packets looks like this, too"
		if s.err != nil {
			cause, do = transport.Explain(s.err)
		}
		refused := (*tls.CertificateVerificationError)(nil)
		if errors.As(s.err, &refused) && len(refused.UnverifiedCertificates) > 0 {
			cause += "; " + certificateSays(refused.UnverifiedCertificates[0])
		}
		k.fail("connection", frame.Mark(frame.ErrNotReached, fmt.Errorf("%s: %s", s.name, cause)), do)
		return
	}
	says := fmt.Sprintf("%s, at %s, in %s", s.name, s.to, quick(s.took))
	if s.proxy != "" {
		says = fmt.Sprintf("%s, by the proxy %s, in %s; NO_PROXY=%s goes without it", s.name, s.proxy, quick(s.took), s.name)
	}
	status, do := stepOK, ""
	switch {
	case !s.secure && !safe.ThisMachine(s.name):
		status, do = stepWarning, "anybody on the way can read and change what passes, credentials too: does the agent have an https URL?"
		says += "\nwithout TLS"
	case s.tls != nil && len(s.tls.PeerCertificates) > 0:
		certificate := s.tls.PeerCertificates[0]
		says += "\n" + tls.VersionName(s.tls.Version) + ", " + certificateSays(certificate)
		if left := time.Until(certificate.NotAfter); left < soon {
			status, do = stepWarning, fmt.Sprintf("the certificate ends in %d days: whoever runs the agent should know", int(left.Hours()/24))
		}
	}
	k.add("connection", status, says, do)
}

func certificateSays(c *x509.Certificate) string {
	return fmt.Sprintf("certificate of %s, by %s, until %s", cmp.Or(strings.Join(c.DNSNames, ", "), c.Subject.CommonName, c.Subject.String()),
		cmp.Or(c.Issuer.CommonName, c.Issuer.String()), c.NotAfter.Local().Format("2006-01-02"))
}

func quick(d time.Duration) string {
	if d < time.Millisecond {
		return "less than 1ms"
	}
	return d.Round(time.Millisecond).String()
}

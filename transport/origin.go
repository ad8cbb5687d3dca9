package transport

import (
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// maxRedirects is how many redirects in a row are followed. A gateway needs one.
const maxRedirects = 5

// webURL reports whether u is one that we can call.
func webURL(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// origins knows where requests, and with them the credentials, may go: to the
// origin of --agent, and to those that the user has named. [safe.Origin] spells the names
// of this machine alike: Gemini's card says http://localhost:41242/ while users write
// 127.0.0.1 or [::1], and servers put the 0.0.0.0 that they listen on into their cards.
// Other addresses of this machine are not among them: 127.0.0.2 may be another server.
type origins struct {
	// own is set late for a card that was given as a file: the user chose the file, so
	// the URL in it is the agent's origin.
	own     atomic.Pointer[url.URL]
	trusted map[string]bool
}

func newOrigins(trust []string) (*origins, error) {
	o := &origins{trusted: make(map[string]bool)}
	for _, t := range trust {
		u, err := url.Parse(t)
		if err != nil || !webURL(u) || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
			return nil, failf(nil, "--trust-origin %q is no origin: write it like https://agent.example:8443", redactString(t))
		}
		o.trusted[safe.Origin(u)] = true
	}
	return o, nil
}

// check returns an error for a URL to which no request may go; nil for any other. what names what
// led there, for the error.
func (o *origins) check(u *url.URL, what string) error {
	if !webURL(u) {
		return failf(ErrOrigin, "%s %s, which is no http or https URL", what, safe.Shown(u))
	}
	own := o.own.Load()
	to := safe.Origin(u)
	if own != nil && to == safe.Origin(own) || o.trusted[to] {
		return nil
	}
	if own == nil {
		return failf(ErrOrigin, "%s %s before the agent's origin is known", what, safe.Shown(u))
	}
	secret := ""
	if own.Scheme == "https" && u.Scheme == "http" {
		secret = ", unencrypted"
	}
	return failf(ErrOrigin, "%s %s%s, but --agent is at %s://%s, and credentials go nowhere else: if it is meant to be there, add --trust-origin %s://%s",
		what, safe.Shown(u), secret, own.Scheme, own.Host, u.Scheme, u.Host)
}

// sameSpelling returns a URL of the agent's own origin with the scheme and host that the user wrote, any
// other as it is. That host was reached, and a second name would mean further connections. An agent that
// names the 0.0.0.0 that it listens on, or its own machine from another one, is behind a proxy or
// a mapped port that it does not know of: it is where it was reached.
func (o *origins) sameSpelling(u *url.URL) *url.URL {
	own := o.own.Load()
	if own == nil || u.Host == own.Host || !webURL(u) || o.trusted[safe.Origin(u)] {
		return u
	}
	host := u.Hostname()
	itself := host == "0.0.0.0" || host == "::" || safe.ThisMachine(host) && !safe.ThisMachine(own.Hostname())
	if (!itself || u.Scheme == "https" && own.Scheme == "http") && safe.Origin(u) != safe.Origin(own) {
		return u // what is to be encrypted is refused
	}
	c := *u
	c.Scheme, c.Host = own.Scheme, own.Host
	return &c
}

// checkRedirect is http.Client's hook. A redirect never leaves the origins that
// are allowed, not even to a trusted one if that would drop encryption, and it
// must not turn a POST into a GET, which is what 301 to 303 do.
func (g *guard) checkRedirect(req *http.Request, via []*http.Request) error {
	first, last := via[0], via[len(via)-1]
	if len(via) > maxRedirects {
		return failf(nil, "%s redirects more than %d times", safe.Shown(first.URL), maxRedirects)
	}
	if err := g.allowed(req).check(req.URL, safe.Shown(first.URL)+" redirects to"); err != nil {
		return err
	}
	if last.URL.Scheme == "https" && req.URL.Scheme != "https" {
		return failf(ErrOrigin, "%s redirects to %s, which is not encrypted", safe.Shown(first.URL), safe.Shown(req.URL))
	}
	if req.Method != first.Method {
		return failf(nil, "%s redirects to %s without what was posted: give the agent's new URL as --agent", safe.Shown(first.URL), safe.Shown(req.URL))
	}
	return nil
}

// Local reports whether the agent is at an address of this machine. It may be the
// end of a tunnel all the same.
func (c *Client) Local() bool {
	own := c.origins.own.Load()
	return own != nil && safe.ThisMachine(own.Hostname())
}

// redactString is [safe.Shown] for a string that may be no URL: "…" if it may hold a secret.
func redactString(s string) string {
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		return safe.Shown(u)
	}
	if strings.ContainsAny(s, "@?") {
		return "…"
	}
	return s
}

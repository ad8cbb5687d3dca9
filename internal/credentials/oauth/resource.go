package oauth

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// A Hint is what an agent's 401 tells about authentication (RFC 6750, §3; RFC 9728,
// §5.1).
type Hint struct {
	// Scheme is the first named scheme, in lower case.
	Scheme string
	Scopes []string
	// Metadata is the URL of the protected resource's metadata.
	Metadata string
}

// ReadHint reads an answer's WWW-Authenticate headers.
func ReadHint(headers []string) (h Hint) {
	// Compiled here: nearly no run needs it.
	parameter := regexp.MustCompile(`([A-Za-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))`)
	for _, header := range headers {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
		if scheme = strings.ToLower(scheme); h.Scheme == "" {
			h.Scheme = scheme
		}
		if scheme != "bearer" {
			continue
		}
		h.Scheme = scheme
		for _, m := range parameter.FindAllStringSubmatch(rest, 32) {
			value := m[2] + m[3]
			switch strings.ToLower(m[1]) {
			case "scope":
				h.Scopes = strings.Fields(plain(value))
			case "resource_metadata":
				h.Metadata = value
			}
		}
		break
	}
	return h
}

// A Resource is an agent's protected resource metadata (RFC 9728).
type Resource struct {
	Resource  string   `json:"resource"`
	Providers []string `json:"authorization_servers"`
	Scopes    []string `json:"scopes_supported"`
}

// ReadResource gets the metadata that an agent's 401 names. It must be at the agent's
// own origin, and describe a resource there.
func ReadResource(ctx context.Context, hc *http.Client, agent, from string) (*Resource, error) {
	u, err := url.Parse(from)
	a, _ := url.Parse(agent)
	if err != nil || a == nil || !safe.SameOrigin(u, a) {
		return nil, &Error{Provider: "of " + plain(agent), text: "is to be found elsewhere (" + plain(from) + "), where nobody said that it is"}
	}
	r := new(Resource)
	if _, err := fetch(ctx, hc, Name(from), from, r); err != nil {
		return nil, err
	}
	if of, err := url.Parse(r.Resource); err != nil || !safe.SameOrigin(of, a) {
		return nil, &Error{Provider: "of " + plain(agent), text: "is named for another resource, " + plain(r.Resource)}
	}
	return r, nil
}

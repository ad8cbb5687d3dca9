package oauth

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// A Provider is an identity provider: its issuer and its endpoints, by the names of RFC 8414
// and of OpenID Connect Discovery. Missing ones are empty. It is stored with its tokens.
type Provider struct {
	Issuer        string `json:"issuer"`
	Authorization string `json:"authorization_endpoint,omitempty"`
	Token         string `json:"token_endpoint,omitempty"`
	Device        string `json:"device_authorization_endpoint,omitempty"`
	Registration  string `json:"registration_endpoint,omitempty"`
	Revocation    string `json:"revocation_endpoint,omitempty"`
	Keys          string `json:"jwks_uri,omitempty"`
	// Scopes are the supported scopes.
	Scopes []string `json:"scopes_supported,omitempty"`
	// ClientAuth are the ways to send a client secret.
	ClientAuth []string `json:"token_endpoint_auth_methods_supported,omitempty"`
	PKCE       []string `json:"code_challenge_methods_supported,omitempty"`
	// Algorithms are those of its ID tokens.
	Algorithms []string `json:"id_token_signing_alg_values_supported,omitempty"`
	// SaysIssuer: each of its answers names the issuer (RFC 9207).
	SaysIssuer bool `json:"authorization_response_iss_parameter_supported,omitempty"`
	// unnamed: there is no metadata, and Issuer is the endpoints' origin, so that the issuer
	// may be any above the token endpoint.
	unnamed bool
}

// Discover gets an issuer's metadata. missing: it has none, and err tells so.
func Discover(ctx context.Context, hc *http.Client, issuer string) (p *Provider, missing bool, err error) {
	base, err := parseURL(issuer)
	if err != nil {
		return nil, false, err
	}
	var first error
	for _, u := range wellKnown(base) {
		p := new(Provider)
		missing, err := fetch(ctx, hc, Name(issuer), u, p)
		switch {
		case err != nil && missing:
			first = cmp.Or(first, err)
			continue
		case err != nil:
			return nil, false, err
		case p.Issuer != issuer && !p.multiTenant(base): // RFC 8414, §3.3: identical
			return nil, false, &Error{Provider: Name(issuer), text: fmt.Sprintf("has metadata of %s, and not of %s: if you know it, --oauth-issuer names it as it names itself", plain(p.Issuer), plain(issuer))}
		}
		return p, false, p.check(base)
	}
	return nil, true, first
}

// FromMetadata reads the metadata at a URL that a card names.
func FromMetadata(ctx context.Context, hc *http.Client, from string) (*Provider, error) {
	at, err := parseURL(from)
	if err != nil {
		return nil, err
	}
	p := new(Provider)
	if _, err := fetch(ctx, hc, Name(from), from, p); err != nil {
		return nil, err
	}
	if issuer, err := url.Parse(p.Issuer); err != nil || !p.multiTenant(at) && !slices.Contains(wellKnown(issuer), at.String()) {
		return nil, &Error{Provider: Name(from), text: fmt.Sprintf("has metadata of %s, for which it cannot speak", plain(p.Issuer))}
	}
	return p, p.check(at)
}

// multiTenant reports whether metadata are Microsoft's for all tenants: their issuer has a
// placeholder, so that it is identical with none.
func (p *Provider) multiTenant(at *url.URL) bool {
	issuer, err := url.Parse(p.Issuer)
	return err == nil && strings.Contains(p.Issuer, "{tenantid}") && safe.SameOrigin(issuer, at)
}

// wellKnown lists the URLs of an issuer's metadata: RFC 8414 puts the well-known name
// before the path, OpenID Connect behind it.
func wellKnown(issuer *url.URL) []string {
	at := func(path string) string {
		u := *issuer
		u.Path, u.RawPath, u.RawQuery = path, "", ""
		return u.String()
	}
	path := strings.TrimRight(issuer.Path, "/")
	const oidc, rfc8414 = "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"
	list := []string{at(path + oidc), at(rfc8414 + path)}
	if path != "" { // some put either at the other's place
		list = append(list, at(oidc+path), at(path+rfc8414))
	}
	return list
}

// check checks metadata that speak for the place where they were found. It refuses
// unencrypted endpoints: on this machine, too, unless the metadata come from there, so that
// no provider has anything sent to what listens here.
func (p *Provider) check(at *url.URL) error {
	name := Name(at.String())
	switch {
	case p.Token == "":
		return &Error{Provider: name, text: "has metadata without a token endpoint"}
	case len(p.PKCE) > 0 && !slices.Contains(p.PKCE, "S256"):
		return &Error{Provider: name, text: "does not take PKCE with S256, without which a code can be stolen"}
	}
	for _, endpoint := range append(p.Endpoints(), p.Keys) {
		if endpoint == "" {
			continue
		}
		u, err := parseURL(endpoint)
		if err != nil {
			return err
		}
		if u.Scheme == "http" && at.Scheme != "http" {
			return &Error{Provider: name, text: fmt.Sprintf("has the endpoint %s, which is not encrypted", plain(safe.Shown(u)))}
		}
	}
	return nil
}

// Endpoints are where a sign-in, and what follows from it, may lead to; missing ones are empty.
// Keys are not among them: they get nothing.
func (p *Provider) Endpoints() []string {
	return []string{p.Authorization, p.Token, p.Device, p.Registration, p.Revocation}
}

// FromEndpoints makes a provider from the URLs of a card's flow, without metadata. They
// must share one origin, which becomes the issuer.
func FromEndpoints(authorization, token, device string) (*Provider, error) {
	at, err := parseURL(token)
	if err != nil {
		return nil, err
	}
	for _, other := range []string{authorization, device} {
		if other == "" {
			continue
		}
		u, err := parseURL(other)
		if err != nil {
			return nil, err
		}
		if !safe.SameOrigin(u, at) {
			return nil, fmt.Errorf("the card has the sign-in at %s and the tokens at %s: only you can confirm that these belong together: --oauth-issuer names the identity provider", plain(u.Host), plain(at.Host))
		}
	}
	p := &Provider{Issuer: at.Scheme + "://" + at.Host, Authorization: authorization, Token: token, Device: device}
	p.unnamed = !strings.Contains(at.Path, "..") // not /theirs/../ours/token, which begins with another tenant's issuer
	return p, nil
}

// is reports whether an issuer that an answer names is this provider. Keycloak names the
// realm, also if a card has its endpoints alone.
func (p *Provider) is(issuer string) bool {
	switch {
	case p.unnamed:
		return strings.HasPrefix(p.Token, strings.TrimRight(issuer, "/")+"/")
	case strings.Contains(p.Issuer, "{tenantid}"):
		return SameOrigin(issuer, p.Issuer)
	}
	return issuer == p.Issuer
}

// Has reports whether the provider has these endpoints; an empty one is not compared.
func (p *Provider) Has(authorization, token string) bool {
	return (authorization == "" || authorization == p.Authorization) && (token == "" || token == p.Token)
}

// Name returns an identity provider's name for messages and the question whether it is the right
// one: with the whole host, in ASCII, since other letters may look like those of another.
func Name(issuer string) string {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" {
		return "of the card"
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	for _, suffix := range []string{"/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"} {
		path = strings.TrimSuffix(path, suffix)
	}
	return safe.Line((&url.URL{Scheme: u.Scheme, Host: u.Host}).String()+path, maxName)
}

// maxName is more than a host may have, which is 253 characters.
const maxName = 300

// SameOrigin reports whether two URLs have the same origin.
func SameOrigin(a, b string) bool {
	u, err := url.Parse(a)
	v, err2 := url.Parse(b)
	return err == nil && err2 == nil && safe.SameOrigin(u, v)
}

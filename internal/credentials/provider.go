package credentials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// configured returns the provider that the user has configured. If it has no metadata,
// the card's endpoints count, if they are at its origin.
func (s *Source) configured(ctx context.Context, card *a2a.Card) (*oauth.Provider, error) {
	issuer := s.opts.OAuth.Issuer
	p, missing, err := oauth.Discover(ctx, s.http, issuer)
	if !missing {
		return p, err
	}
	for _, f := range cardFlows(card) {
		if !oauth.SameOrigin(f.TokenURL, issuer) {
			continue
		}
		for _, u := range []*string{&f.AuthorizationURL, &f.DeviceURL} {
			if !oauth.SameOrigin(*u, issuer) {
				*u = ""
			}
		}
		if p, err := oauth.FromEndpoints(f.AuthorizationURL, f.TokenURL, f.DeviceURL); err == nil {
			return p, nil
		}
	}
	return nil, fmt.Errorf("%w, and the agent's card names no endpoint of it", err)
}

// cardFlows lists the flows of all schemes of a card that we support.
func cardFlows(card *a2a.Card) (list []a2a.OAuthFlow) {
	if card == nil {
		return nil
	}
	for _, s := range card.Schemes {
		for _, f := range s.Flows {
			if f.Type != a2a.FlowImplicit && f.Type != a2a.FlowPassword {
				list = append(list, f)
			}
		}
	}
	return list
}

// wantedScopes returns the scopes that a card wants of a token: those of the first
// requirement that has one.
func wantedScopes(card *a2a.Card) []string {
	if card == nil {
		return nil
	}
	for _, alternative := range card.Requirements {
		for _, use := range alternative {
			if sc := schemeNamed(card, use.Scheme); sc.Type == "oauth2" || sc.Type == "openIdConnect" {
				return use.Scopes
			}
		}
	}
	return nil
}

// candidate finds the provider that a card's scheme names: by its metadata, or by its
// endpoints. Nobody but the agent vouches for it.
func (s *Source) candidate(ctx context.Context, scheme *a2a.SecurityScheme) (*oauth.Provider, error) {
	if scheme.MetadataURL != "" {
		p, err := oauth.FromMetadata(ctx, s.http, scheme.MetadataURL)
		if err == nil || scheme.Type == "openIdConnect" {
			return p, err
		}
	}
	authorization, token, device, err := endpoints(scheme)
	if err != nil {
		return nil, err
	}
	// The endpoints may have different hosts; then metadata must vouch for them.
	for _, from := range []string{authorization, token} {
		if from == "" {
			continue
		}
		if p, _, err := oauth.Discover(ctx, s.http, originOnly(from)); err == nil && p.Has(authorization, token) {
			return p, nil
		}
	}
	return oauth.FromEndpoints(authorization, token, device)
}

// endpoints returns those of a scheme's flows that we support; "" for a missing one.
func endpoints(scheme *a2a.SecurityScheme) (authorization, token, device string, err error) {
	flows := cardFlows(&a2a.Card{Schemes: []a2a.SecurityScheme{*scheme}})
	if len(flows) == 0 && len(scheme.Flows) > 0 {
		return "", "", "", fmt.Errorf("the card offers the OAuth flow %q alone, which is obsolete (OAuth 2.1 has removed it, because it gives tokens or passwords to who should not have them): a2astdio does not speak it; ask for authorizationCode or deviceCode, or --oauth-issuer names the identity provider", scheme.Flows[0].Type)
	}
	for _, f := range flows {
		authorization, device = cmp.Or(authorization, f.AuthorizationURL), cmp.Or(device, f.DeviceURL)
		if token == "" || f.Type == a2a.FlowAuthorizationCode {
			token = cmp.Or(f.TokenURL, token)
		}
	}
	if token == "" {
		return "", "", "", errors.New("the card does not say where its tokens come from: --oauth-issuer names the identity provider")
	}
	return authorization, token, device, nil
}

// originOnly returns a URL up to its host.
func originOnly(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	return u.Scheme + "://" + u.Host
}

package credentials

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
)

// signInOAuth signs in at an identity provider. If only the agent names the provider,
// the user is asked before anything goes there, and what is confirmed is stored.
func (s *Source) signInOAuth(ctx context.Context, login *Login, st *step, how *SignIn, user User) error {
	provider, resource, err := s.providerFor(ctx, st, how)
	if err != nil {
		return err
	}
	scopes := s.scopesFor(st, provider)
	device := how.Device || !user.Browser() || provider.Authorization == ""
	if device && provider.Device == "" {
		if how.Device || provider.Authorization == "" {
			return fmt.Errorf("the identity provider %s has no sign-in by device code", oauth.Name(provider.Issuer))
		}
		return fmt.Errorf("there is no browser here, and the identity provider %s has no sign-in by device code: sign in on a machine with a browser", oauth.Name(provider.Issuer))
	}
	question, err := s.confirm(ctx, login, provider, scopes, user)
	if err != nil {
		return err
	}
	if device && question != nil {
		issuer := oauth.Name(provider.Issuer)
		return errors.New("this sign-in goes to " + issuer + ", which only the agent has named: confirm that on a terminal (" + s.signIn("") + "), or say it with --oauth-issuer " + issuer)
	}
	browser := &oauth.CodeLogin{Provider: provider, Scopes: scopes, Resource: resource, Redirect: s.opts.OAuth.Redirect, Ask: question}
	defer browser.Close()
	secret, err := s.clientFor(ctx, login, provider, scopes, browser, device)
	if err != nil {
		return err
	}
	client := s.client(login.ClientID, secret, s.opts.OAuth.Params)
	var t *oauth.Token
	if device {
		l := &oauth.DeviceLogin{Client: client, Provider: provider, Scopes: scopes, Resource: resource, Show: user.Enter}
		t, login.Account, err = l.Run(ctx)
	} else {
		browser.Client = client
		text := fmt.Sprintf("Sign in at %s for the agent at %s", oauth.Name(provider.Issuer), login.Origin)
		browser.Visit = func(ctx context.Context, local, page string) error { return user.Visit(ctx, local, page, text) }
		t, login.Account, err = browser.Run(ctx)
	}
	if err != nil {
		return err
	}
	login.Provider, login.Scopes, login.Params = provider, scopes, s.opts.OAuth.Params
	login.take(t)
	return nil
}

// providerFor finds the provider. resource is the agent's own name as a resource, if it
// has one (RFC 9728).
func (s *Source) providerFor(ctx context.Context, st *step, how *SignIn) (p *oauth.Provider, resource string, err error) {
	if s.opts.OAuth.Issuer != "" {
		p, err = s.configured(ctx, how.Card)
		return p, "", err
	}
	if st.scheme.Type != "" {
		p, err = s.candidate(ctx, &st.scheme)
		return p, "", err
	}
	r, err := oauth.ReadResource(ctx, s.http, s.opts.Agent, st.hint.Metadata)
	if err != nil {
		return nil, "", err
	}
	if len(st.scopes) == 0 {
		st.scopes = r.Scopes
	}
	for _, issuer := range r.Providers {
		if p, _, err = oauth.Discover(ctx, s.http, issuer); err == nil {
			return p, r.Resource, nil
		}
	}
	if err == nil {
		err = errors.New("the agent names no identity provider: --oauth-issuer does")
	}
	return nil, "", err
}

// scopesFor are the scopes to ask for. It adds those for renewal and for the account
// where the provider has them, unless the user has set the scopes.
func (s *Source) scopesFor(st *step, p *oauth.Provider) []string {
	if s.opts.OAuth.Scopes != nil {
		return s.opts.OAuth.Scopes
	}
	scopes := slices.Clone(st.scopes)
	if st.scheme.Type == "openIdConnect" {
		scopes = append([]string{"openid"}, scopes...)
	}
	if slices.Contains(p.Scopes, "offline_access") {
		scopes = append(scopes, "offline_access")
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// confirm asks the user about a provider that only the agent has named. If it returns a
// question, the page asks it.
func (s *Source) confirm(ctx context.Context, login *Login, p *oauth.Provider, scopes []string, user User) (*oauth.Question, error) {
	agent, _ := url.Parse(s.opts.Agent)
	q := &oauth.Question{Agent: login.Origin, Provider: oauth.Name(p.Issuer), Scopes: scopes, Unencrypted: agent.Scheme == "http" && !strings.HasPrefix(login.Origin, "http://localhost:")}
	if !oauth.SameOrigin(p.Token, p.Issuer) {
		q.Token = oauth.Name(originOnly(p.Token))
	}
	if !q.Unencrypted && (s.opts.OAuth.Issuer != "" || s.confirmed(p)) {
		return nil, nil
	}
	yes, onPage, err := user.Confirm(ctx, q)
	switch {
	case err != nil:
		return nil, err
	case onPage:
		return q, nil
	case !yes:
		return nil, oauth.ErrDeclined
	}
	return nil, nil
}

// confirmed reports whether the user has signed in for this agent before, with the same
// endpoints.
func (s *Source) confirmed(p *oauth.Provider) bool {
	list, _ := s.opts.Store.List()
	return slices.ContainsFunc(list, func(l *Login) bool {
		return l.Origin == Origin(s.opts.Agent) && l.Provider != nil && l.Provider.Issuer == p.Issuer &&
			l.Provider.Token == p.Token && l.Provider.Authorization == p.Authorization && l.Provider.Device == p.Device
	})
}

// clientFor chooses the client for the sign-in: the configured one, one registered
// earlier for this agent, or a new one. It returns the client's secret.
func (s *Source) clientFor(ctx context.Context, login *Login, p *oauth.Provider, scopes []string, browser *oauth.CodeLogin, device bool) (string, error) {
	o := &s.opts.OAuth
	if o.ClientID != "" {
		login.ClientID = o.ClientID
		if o.Secret.IsZero() {
			return "", nil
		}
		secret, err := o.Secret.read(ctx)
		s.opts.Learn(secret)
		return secret, err
	}
	if before := s.registered(ctx, p); before != nil {
		redirect := ""
		if !device {
			// The URL must match exactly, with its port. If that is taken, register a new
			// client.
			browser.Redirect = before.Redirect
			if got, err := browser.Listen(); err == nil {
				redirect = got
			}
			browser.Redirect = o.Redirect
		}
		if device || redirect == before.Redirect {
			login.ClientID, login.Redirect, login.Secrets.ClientSecret = before.ClientID, before.Redirect, before.Secrets.ClientSecret
			return before.Secrets.ClientSecret, nil
		}
	}
	var redirects []string
	if !device {
		redirect, err := browser.Listen()
		if err != nil {
			return "", err
		}
		redirects, login.Redirect = []string{redirect}, redirect
	}
	id, secret, err := oauth.Register(ctx, s.http, p, redirects, scopes)
	if err != nil {
		return "", err
	}
	s.opts.Learn(secret)
	login.ClientID, login.Secrets.ClientSecret = id, secret
	return secret, nil
}

// registered returns an earlier login whose client we have registered at the provider
// for this agent.
func (s *Source) registered(ctx context.Context, p *oauth.Provider) *Login {
	list, _ := s.opts.Store.List()
	for _, l := range list {
		if l.Origin == Origin(s.opts.Agent) && l.Redirect != "" && !l.Forgotten && l.Provider != nil && l.Provider.Issuer == p.Issuer && l.Provider.Token == p.Token {
			if full, err := s.opts.Store.Get(ctx, l.Origin, l.ClientID); err == nil && full != nil {
				return full
			}
		}
	}
	return nil
}

// SignOut deletes the agent's logins, and revokes their tokens. warn is about tokens
// that were not revoked; their logins are deleted all the same.
func (s *Source) SignOut(ctx context.Context) (forgotten []*Login, warn, err error) {
	if s.opts.Store == nil {
		return nil, nil, nil
	}
	list, bad := s.opts.Store.List()
	for _, l := range list {
		if l.Origin != Origin(s.opts.Agent) || s.opts.OAuth.ClientID != "" && l.ClientID != s.opts.OAuth.ClientID {
			continue
		}
		full, err := s.opts.Store.Get(ctx, l.Origin, l.ClientID)
		if err != nil {
			warn = errors.Join(warn, err)
		}
		unlock, err := s.opts.Store.Lock(ctx, l)
		if err != nil {
			return forgotten, warn, err
		}
		err = s.opts.Store.Delete(l)
		unlock()
		if err != nil {
			return forgotten, warn, err
		}
		forgotten = append(forgotten, l)
		if full != nil && full.Provider != nil {
			secret := full.Secrets.ClientSecret
			if secret == "" && !s.opts.OAuth.Secret.IsZero() {
				secret, _ = s.opts.OAuth.Secret.read(ctx) // without it the provider refuses
			}
			t := &oauth.Token{Access: full.Secrets.Access, Refresh: full.Secrets.Refresh}
			warn = errors.Join(warn, s.client(full.ClientID, secret, nil).Revoke(ctx, full.Provider, t))
		}
	}
	s.logins.set(nil)
	s.logins.cache.forget()
	if len(forgotten) == 0 {
		err = bad
	}
	return forgotten, warn, err
}

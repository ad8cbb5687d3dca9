package credentials

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/safe"
)

// signInOAuth signs in at an identity provider. If only the agent names the provider,
// the user is asked before anything goes there, and what is confirmed is stored.
func (s *Source) signInOAuth(ctx context.Context, login *Login, st *step, how *SignIn, user User) error {
	provider, err := s.providerFor(ctx, login, st, how, user)
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
	if err := s.confirmEndpoints(ctx, login, st, provider, scopes, user); err != nil {
		return err
	}
	browser := &oauth.CodeLogin{Provider: provider, Scopes: scopes, Redirect: s.opts.OAuth.Redirect}
	defer browser.Close()
	secret, err := s.clientFor(ctx, login, provider, scopes, browser, device)
	if err != nil {
		return err
	}
	client := s.client(login.ClientID, secret, s.opts.OAuth.Params)
	var t *oauth.Token
	if device {
		l := &oauth.DeviceLogin{Client: client, Provider: provider, Scopes: scopes, Show: user.Enter}
		t, login.Account, err = l.Run(ctx)
	} else {
		browser.Client = client
		text := fmt.Sprintf("Sign in at %s for the agent at %s", oauth.Name(provider.Issuer), login.Origin)
		browser.Visit = func(ctx context.Context, local string) error { return user.Visit(ctx, local, text) }
		t, login.Account, err = browser.Run(ctx)
	}
	if err != nil {
		return err
	}
	login.Provider, login.Scopes, login.Params = provider, scopes, s.opts.OAuth.Params
	login.take(t)
	return nil
}

// providerFor finds the provider. Nothing is asked of one that only the agent names
// before the user has agreed to it.
func (s *Source) providerFor(ctx context.Context, login *Login, st *step, how *SignIn, user User) (*oauth.Provider, error) {
	if s.opts.OAuth.Issuer != "" {
		return s.configured(ctx, how.Card)
	}
	urls, err := namedBy(&st.scheme)
	if err == nil {
		err = s.confirmNames(ctx, login, st, urls, user)
	}
	if err != nil {
		return nil, err
	}
	return s.candidate(ctx, &st.scheme)
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

// confirmNames asks the user about a provider that only the agent has named, by the URLs
// that it names. It is not asked of one at which the user has signed in for this agent.
func (s *Source) confirmNames(ctx context.Context, login *Login, st *step, urls []string, user User) error {
	q := &oauth.Question{Agent: login.Origin, Provider: oauth.Name(urls[0]), Scopes: s.scopesFor(st, &oauth.Provider{}), Unencrypted: s.unencrypted()}
	for _, u := range urls[1:] {
		if !oauth.SameOrigin(u, urls[0]) {
			q.Token = oauth.Name(originOnly(u))
		}
	}
	list, _ := s.opts.Store.List()
	known := slices.ContainsFunc(list, func(l *Login) bool {
		return l.Origin == login.Origin && l.Provider != nil && !slices.ContainsFunc(urls, func(u string) bool {
			return !oauth.SameOrigin(u, l.Provider.Issuer) && !oauth.SameOrigin(u, l.Provider.Token)
		})
	})
	if known && !q.Unencrypted {
		return nil
	}
	return s.confirm(ctx, st, q, urls, user)
}

// confirmEndpoints asks the user about what is known of the provider now: its metadata
// may lead elsewhere than its name.
func (s *Source) confirmEndpoints(ctx context.Context, login *Login, st *step, p *oauth.Provider, scopes []string, user User) error {
	agreed := func(endpoint string) bool {
		return endpoint == "" || slices.ContainsFunc(st.confirmed, func(u string) bool { return oauth.SameOrigin(u, endpoint) })
	}
	q := &oauth.Question{Agent: login.Origin, Provider: oauth.Name(p.Issuer), Scopes: scopes, Unencrypted: s.unencrypted()}
	if !oauth.SameOrigin(p.Token, p.Issuer) {
		q.Token = oauth.Name(originOnly(p.Token))
	}
	switch {
	case s.opts.OAuth.Issuer != "" && !q.Unencrypted,
		s.confirmed(p) && !q.Unencrypted,
		agreed(p.Issuer) && agreed(p.Token) && agreed(p.Authorization) && agreed(p.Device) && len(st.confirmed) > 0:
		return nil
	}
	return s.confirm(ctx, st, q, []string{p.Issuer, p.Token, p.Authorization, p.Device}, user)
}

func (s *Source) unencrypted() bool {
	u, err := url.Parse(s.opts.Agent)
	return err == nil && u.Scheme == "http" && !safe.ThisMachine(u.Host)
}

// confirm asks the user.
func (s *Source) confirm(ctx context.Context, st *step, q *oauth.Question, urls []string, user User) error {
	yes, err := user.Confirm(ctx, q)
	switch {
	case errors.Is(err, ErrCannot):
		return errors.New("this sign-in goes to " + q.Provider + ", which only the agent has named, and you cannot be asked here: confirm that on a terminal (" + s.signIn("") +
			"), or, if you know it, say it with --oauth-issuer " + q.Provider)
	case err != nil:
		return err
	case !yes:
		return oauth.ErrDeclined
	}
	st.confirmed = append(st.confirmed, urls...)
	return nil
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

// clientFor chooses the client for the sign-in: the configured one, or one that is
// registered for it. It returns the client's secret. (Rejected: to take a client that was
// registered before. Its redirect URL has a port, which may be taken, and many providers
// want exactly that one.)
func (s *Source) clientFor(ctx context.Context, login *Login, p *oauth.Provider, scopes []string, browser *oauth.CodeLogin, device bool) (string, error) {
	o := &s.opts.OAuth
	if o.ClientID != "" {
		login.ClientID = o.ClientID
		if o.Secret.IsZero() {
			return "", nil
		}
		secret, err := o.Secret.read()
		s.opts.Learn(secret)
		return secret, err
	}
	var redirects []string
	if !device {
		redirect, err := browser.Listen()
		if err != nil {
			return "", err
		}
		redirects = []string{redirect}
	}
	id, secret, err := oauth.Register(ctx, s.http, p, redirects, scopes)
	if err != nil {
		return "", err
	}
	s.opts.Learn(secret)
	login.ClientID, login.Registered, login.Secrets.ClientSecret = id, true, secret
	return secret, nil
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
				secret, _ = s.opts.OAuth.Secret.read() // without it the provider refuses
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

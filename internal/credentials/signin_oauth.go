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
func (s *Source) signInOAuth(ctx context.Context, login *Login, to *target, how *SignIn, user User) error {
	provider, err := s.providerFor(ctx, login, to, how, user)
	if err != nil {
		return err
	}
	scopes := s.scopesFor(to, provider)
	device := how.Device || !user.Browser() || provider.Authorization == ""
	switch {
	case provider.Device == "" && provider.Authorization == "":
		return fmt.Errorf("the identity provider %s has tokens for programs alone: --oauth-client-id with the client's secret and --oauth-issuer gets these", oauth.Name(provider.Issuer))
	case provider.Device == "" && how.Device:
		return fmt.Errorf("the identity provider %s has no sign-in by device code", oauth.Name(provider.Issuer))
	case device && provider.Device == "":
		return fmt.Errorf("there is no browser here, and the identity provider %s has no sign-in by device code: sign in on a machine with a browser", oauth.Name(provider.Issuer))
	}
	// Its metadata may lead elsewhere than its name.
	if err := s.agree(ctx, login, to, scopes, user, append([]string{provider.Issuer}, provider.Endpoints()...)...); err != nil {
		return err
	}
	text := fmt.Sprintf("Sign in at %s for the agent at %s", oauth.Name(provider.Issuer), login.Origin)
	l := &oauth.Login{Provider: provider, Scopes: scopes, Redirect: s.opts.OAuth.Redirect, Show: user.Enter,
		Visit: func(ctx context.Context, local string) error { return user.Visit(ctx, local, text) }}
	defer l.Close()
	secret, err := s.clientFor(ctx, login, l, device)
	if err != nil {
		return err
	}
	l.Client = s.client(login.ClientID, secret, s.opts.OAuth.Params)
	sign := l.ByBrowser
	if device {
		sign = l.ByDevice
	}
	var t *oauth.Token
	t, login.Account, err = sign(ctx)
	if err != nil {
		return err
	}
	login.Provider, login.Scopes, login.Params = provider, scopes, s.opts.OAuth.Params
	login.setTokens(t)
	return nil
}

// providerFor finds the provider. Nothing is asked of one that only the agent names
// before the user has agreed to it.
func (s *Source) providerFor(ctx context.Context, login *Login, to *target, how *SignIn, user User) (*oauth.Provider, error) {
	if s.opts.OAuth.Issuer != "" {
		return s.configured(ctx, how.Card)
	}
	authorization, token, device, err := endpoints(&to.scheme)
	if err != nil && to.scheme.MetadataURL == "" {
		return nil, err
	}
	if err := s.agree(ctx, login, to, s.scopesFor(to, &oauth.Provider{}), user, to.scheme.MetadataURL, authorization, device, token); err != nil {
		return nil, err
	}
	return s.candidate(ctx, &to.scheme)
}

// scopesFor returns the scopes to ask for. It adds those for renewal and for the account
// where the provider has them, unless the user has set the scopes.
func (s *Source) scopesFor(to *target, p *oauth.Provider) []string {
	if s.opts.OAuth.Scopes != nil {
		return s.opts.OAuth.Scopes
	}
	scopes := slices.Clone(to.scopes)
	if to.scheme.Type == "openIdConnect" {
		scopes = append([]string{"openid"}, scopes...)
	}
	if slices.Contains(p.Scopes, "offline_access") {
		scopes = append(scopes, "offline_access")
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// agree asks the user about a provider by its URLs, of which empty ones do not count,
// unless the user has configured it, or has agreed to their origins: in this sign-in, or in
// one for this agent that is stored. Without encryption the user is asked in each sign-in.
func (s *Source) agree(ctx context.Context, login *Login, to *target, scopes []string, user User, urls ...string) error {
	urls = slices.DeleteFunc(urls, func(u string) bool { return u == "" })
	q := &oauth.Question{Agent: login.Origin, Provider: oauth.Name(urls[0]), Scopes: scopes, Unencrypted: s.unencrypted()}
	covers := func(agreed ...string) bool {
		agreed = append(agreed, to.confirmed...)
		return !slices.ContainsFunc(urls, func(u string) bool {
			return !slices.ContainsFunc(agreed, func(a string) bool { return oauth.SameOrigin(a, u) })
		})
	}
	stored, _ := s.opts.Store.List()
	switch before := func(l *Login) bool {
		p := l.Provider
		return l.Origin == login.Origin && p != nil && covers(append(p.Endpoints(), p.Issuer)...)
	}; {
	case covers(), !q.Unencrypted && (s.opts.OAuth.Issuer != "" || slices.ContainsFunc(stored, before)):
		return nil
	}
	for _, u := range urls[1:] {
		if name := oauth.Name(originOnly(u)); !oauth.SameOrigin(u, urls[0]) && !slices.Contains(q.Others, name) {
			q.Others = append(q.Others, name)
		}
	}
	yes, err := user.Confirm(ctx, q)
	switch {
	case errors.Is(err, ErrCannot):
		return errors.New("this sign-in goes to " + q.Provider + ", which only the agent has named, and you cannot be asked here: confirm that on a terminal (" + s.howToSignIn("") +
			"), or, if you know it, say it with --oauth-issuer " + safe.ShellWord(q.Provider))
	case err != nil:
		return err
	case !yes:
		return oauth.ErrDeclined
	}
	to.confirmed = append(to.confirmed, urls...)
	return nil
}

func (s *Source) unencrypted() bool {
	u, err := url.Parse(s.opts.Agent)
	return err == nil && u.Scheme == "http" && !safe.ThisMachine(u.Host)
}

// clientFor chooses the client for the sign-in: the configured one, or one that is
// registered for it. It returns the client's secret. (Rejected: to take a client that was
// registered before. Its redirect URL has a port, which may be taken, and many providers
// want exactly that one.)
func (s *Source) clientFor(ctx context.Context, login *Login, l *oauth.Login, device bool) (string, error) {
	if login.ClientID = s.opts.OAuth.ClientID; login.ClientID != "" {
		return s.clientSecret()
	}
	var redirects []string
	if !device {
		redirect, err := l.Listen()
		if err != nil {
			return "", err
		}
		redirects = []string{redirect}
	}
	id, secret, err := oauth.Register(ctx, s.http, l.Provider, redirects, l.Scopes)
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
		if !l.isFor(Origin(s.opts.Agent), s.opts.OAuth.ClientID) {
			continue
		}
		kept, err := s.Forget(ctx, l)
		warn = errors.Join(warn, kept)
		if err != nil {
			return forgotten, warn, err
		}
		forgotten = append(forgotten, l)
	}
	if len(forgotten) == 0 {
		err = bad
	}
	return forgotten, warn, err
}

// Forget is SignOut for one login, which may be without its secrets.
func (s *Source) Forget(ctx context.Context, l *Login) (warn, err error) {
	unlock, err := s.opts.Store.Lock(ctx, l)
	if err != nil {
		return nil, err
	}
	full, warn := s.opts.Store.Get(l.Origin, l.ClientID) // a bridge may have renewed it until the lock
	err = s.opts.Store.Delete(l)
	unlock()
	s.forget()
	if err != nil || full == nil || full.Provider == nil {
		return warn, err
	}
	secret, _ := s.secretOf(full) // without it the provider refuses
	t := &oauth.Token{Access: full.Secrets.Access, Refresh: full.Secrets.Refresh}
	return s.client(full.ClientID, secret, nil).Revoke(ctx, full.Provider, t), nil
}

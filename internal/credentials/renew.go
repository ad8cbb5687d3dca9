package credentials

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/transport"
)

// lastLogin returns the stored login as last read, nil if there is none.
func (s *Source) lastLogin() *Login {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.login
}

// setLogin notes the stored login, and returns the one before; nil stands for none.
func (s *Source) setLogin(login *Login) (before *Login) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.login = s.login, login
	return before
}

// forget has the next request read the stored login, whatever was known of it.
func (s *Source) forget() {
	s.setLogin(nil)
	s.keepStale("")
	s.renewal.set(nil)
}

// keepStale notes the token of a stored login that was renewed, and cannot be replaced.
func (s *Source) keepStale(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = token
}

// newest returns the stored login, or a copy of what this process has got in its place and
// could not store.
func (s *Source) newest(stored *Login) *Login {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stored == nil || stored.token() != s.stale || s.login == nil {
		return stored
	}
	l := *s.login
	return &l
}

// current reads the stored login, and has the cache follow it; nil if there is none. Another
// process may have signed in, renewed it, or signed out.
func (s *Source) current() (*Login, error) {
	if s.opts.Store == nil || Origin(s.opts.Agent) == "" {
		return nil, nil
	}
	login, err := s.opts.Store.Find(s.opts.Agent, s.opts.OAuth.ClientID)
	if err != nil {
		return nil, err
	}
	login = s.newest(login)
	before := s.setLogin(login)
	if login == nil {
		s.renewal.set(nil)
		return nil, nil
	}
	if before == nil || before.token() != login.token() {
		s.renewal.set(login.held())
	}
	s.opts.Learn(login.Secrets.all()...)
	return login, nil
}

// signedIn returns the stored login's credential, nil if there is none or none is wanted.
func (s *Source) signedIn(ctx context.Context, c *transport.Challenge) (*transport.Credential, error) {
	if s.opts.Header.Get("Authorization") != "" && len(s.opts.uncoveredLeast(c.Card)) == 0 {
		return nil, nil
	}
	login, err := s.current()
	switch {
	case err != nil && c.Status == 0 && len(s.opts.uncoveredLeast(c.Card)) == 0:
		return nil, nil // the file may be of another agent, and this one wants nothing
	case login == nil || err != nil:
		return nil, err
	case login.Secrets.Access == "":
		return credential(login.Secrets.Keys...), nil // keys do not expire
	}
	return s.fromCache(ctx, s.renewal, c)
}

// renewLogin is the get of the cache of renewals: it renews the stored token. It holds the
// file's lock meanwhile: one of several bridges renews, and the others find the result.
func (s *Source) renewLogin(ctx context.Context, refused string) (*held, error) {
	login := s.lastLogin()
	if login == nil || login.Provider == nil { // a key has taken its place
		return nil, nil
	}
	unlock, err := s.opts.Store.Lock(ctx, login)
	if err != nil {
		return nil, err
	}
	defer unlock()
	stored, err := s.opts.Store.Get(login.Origin, login.ClientID)
	if stored == nil || err != nil {
		return nil, err
	}
	login = s.newest(stored)
	why := "has ended, and cannot be renewed"
	switch h := login.held(); {
	case h != nil && h.token != refused && valid(s.opts.Now(), h.renewAt):
		s.setLogin(login) // another bridge has renewed it
		return h, nil
	case login.Over != "":
		why = "has ended (" + login.Over + ")"
	case login.Renews():
		return s.renew(ctx, login, stored.token())
	case refused != "":
		why = "is not taken any more, and cannot be renewed"
	}
	return nil, &endedError{fmt.Sprintf("your sign-in at %s %s: %s", login.Provider.Issuer, why, s.howToSignIn(""))}
}

// renew gets new tokens. stored is the token of the file, which may be older than login. The
// caller has the lock.
func (s *Source) renew(ctx context.Context, login *Login, stored string) (*held, error) {
	secret, err := s.secretOf(login)
	if err != nil {
		return nil, err
	}
	t, err := s.client(login.ClientID, secret, login.Params).Renew(ctx, login.Provider, login.Secrets.Refresh)
	refusal, ok := errors.AsType[*oauth.Error](err)
	switch {
	case ok && (refusal.Code == "invalid_grant" || refusal.Code == "invalid_client" && login.Registered):
		// The refresh token is useless now. Further attempts, by any bridge, would look like
		// a thief's.
		login.Over, login.Secrets.Refresh = "it was not renewed: "+refusal.Error(), ""
		if err := s.opts.Store.Put(login); err != nil {
			s.opts.Log.Warn("the end of the sign-in is not stored", "err", err)
		}
		return nil, &endedError{fmt.Sprintf("your sign-in has ended: %v: %s", refusal, s.howToSignIn(""))}
	case err != nil:
		return nil, err
	}
	s.opts.Learn(t.Access, t.Refresh)
	login.setTokens(t)
	if err := s.opts.Store.Put(login); err != nil {
		// This process can use it; the next one cannot.
		s.keepStale(stored)
		s.opts.Log.Warn("the renewed sign-in is not stored", "err", err)
	}
	s.setLogin(login)
	s.opts.Log.Info("the sign-in was renewed", "issuer", login.Provider.Issuer, "until", login.Expiry)
	return login.held(), nil
}

// secretOf returns the secret of a login's client, "" if it has none: what it got when it was
// registered, or what the user has configured, for the configured client alone.
func (s *Source) secretOf(login *Login) (string, error) {
	if login.Secrets.ClientSecret != "" || login.ClientID != s.opts.OAuth.ClientID {
		return login.Secrets.ClientSecret, nil
	}
	return s.clientSecret()
}

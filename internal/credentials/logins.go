package credentials

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/transport"
)

// logins is the part of a Source that uses stored logins.
type logins struct {
	s     *Source
	cache *cache

	mu    sync.Mutex
	login *Login // as last read
}

// known is the login as last read, nil if there is none.
func (l *logins) known() *Login {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.login
}

// set notes a stored login; nil: there is none.
func (l *logins) set(login *Login) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.login = login
}

// current returns the login on the disk: another process may have signed in, renewed
// it, or signed out.
func (l *logins) current(ctx context.Context) (*Login, error) {
	store := l.s.opts.Store
	if store == nil || Origin(l.s.opts.Agent) == "" {
		return nil, nil
	}
	login, err := store.Find(ctx, l.s.opts.Agent, l.s.opts.OAuth.ClientID)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.login == nil || login == nil || l.login.token() != login.token() {
		l.cache.forget()
	}
	if l.login = login; login != nil {
		l.s.opts.Learn(login.Secrets.all()...)
	}
	return login, nil
}

// credential returns the login's credential, nil if there is none or none is wanted.
func (l *logins) credential(ctx context.Context, c *transport.Challenge) (*transport.Credential, error) {
	if l.s.opts.Header.Get("Authorization") != "" && len(l.s.opts.open(c.Card, "")) == 0 {
		return nil, nil
	}
	login, err := l.current(ctx)
	if login == nil || err != nil {
		return nil, err
	}
	if login.Secrets.Access == "" {
		return login.credential(), nil // keys do not expire
	}
	refused := ""
	if c.Status == http.StatusUnauthorized && c.Refused != nil && c.Refused.Header.Get("Authorization") == "Bearer "+login.Secrets.Access {
		refused = login.Secrets.Access
	}
	if _, err = l.cache.value(ctx, refused); err != nil {
		return nil, err
	}
	if login, err = l.current(ctx); login == nil || err != nil {
		return nil, err
	}
	return login.credential(), nil
}

// renewLogin is the cache's get: it returns the stored token, or renews it. It holds
// the file's lock meanwhile: one of several bridges renews, and the others find the
// result.
func (s *Source) renewLogin(ctx context.Context, refused string) (*held, error) {
	now := s.opts.Now()
	login, err := s.logins.current(ctx)
	if login == nil || err != nil {
		return nil, err
	}
	if h := login.held(refused, s); h != nil {
		return h, nil
	}
	unlock, err := s.opts.Store.Lock(ctx, login)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if login, err = s.opts.Store.Get(ctx, login.Origin, login.ClientID); login == nil || err != nil {
		return nil, err
	}
	if h := login.held(refused, s); h != nil {
		s.logins.set(login) // another bridge has renewed it
		return h, nil
	}
	switch {
	case login.Over != "":
		return nil, &ended{fmt.Sprintf("your sign-in at %s has ended (%s): %s", login.Provider.Issuer, login.Over, s.signIn(""))}
	case !login.Renews() && refused == "" && now.Before(login.Expiry):
		return login.heldUntilItEnds(), nil
	case !login.Renews() && refused != "":
		return nil, &ended{fmt.Sprintf("it does not take your sign-in at %s any more, which cannot be renewed: %s", login.Provider.Issuer, s.signIn(""))}
	case !login.Renews():
		return nil, &ended{fmt.Sprintf("your sign-in at %s has ended, and cannot be renewed: %s", login.Provider.Issuer, s.signIn(""))}
	}
	h, err := s.renew(ctx, login)
	if e := (*oauth.Error)(nil); errors.As(err, &e) && e.Passing && refused == "" && now.Before(login.Expiry) {
		// The token is still valid for a while.
		h, err = login.heldUntilItEnds(), nil
		h.renewAt = now.Add(failPause)
	}
	return h, err
}

// renew gets new tokens. The caller has the lock.
func (s *Source) renew(ctx context.Context, login *Login) (*held, error) {
	secret := login.Secrets.ClientSecret
	if secret == "" && !s.opts.OAuth.Secret.IsZero() && login.ClientID == s.opts.OAuth.ClientID {
		var err error
		if secret, err = s.opts.OAuth.Secret.read(); err != nil {
			return nil, err
		}
		s.opts.Learn(secret)
	}
	t, err := s.client(login.ClientID, secret, login.Params).Renew(ctx, login.Provider, login.Secrets.Refresh)
	if err != nil {
		var e *oauth.Error
		switch {
		case !errors.As(err, &e):
			return nil, err
		case e.Code == "invalid_grant", e.Code == "invalid_client" && login.Registered:
			// The refresh token is useless now. Further attempts, by any bridge, would look like
			// a thief's.
			login.Over, login.Secrets.Refresh = "it was not renewed: "+e.Error(), ""
			if err := s.opts.Store.Put(ctx, login); err != nil {
				s.opts.Log.Warn("the end of the sign-in is not stored", "err", err)
			}
			return nil, &ended{fmt.Sprintf("your sign-in has ended: %v: %s", e, s.signIn(""))}
		}
		return nil, err
	}
	s.opts.Learn(t.Access, t.Refresh)
	login.take(t)
	if err := s.opts.Store.Put(ctx, login); err != nil {
		// This process can use it; the next one cannot.
		s.opts.Log.Warn("the renewed sign-in is not stored", "err", err)
	}
	s.logins.set(login)
	s.opts.Log.Info("the sign-in was renewed", "issuer", login.Provider.Issuer, "until", login.Expiry)
	return login.heldUntilItEnds(), nil
}

// held returns the login's token if it is valid; nil: it must be renewed.
func (l *Login) held(refused string, s *Source) *held {
	h := l.heldUntilItEnds()
	if l.Over != "" || l.Secrets.Access == refused || !h.renewAt.IsZero() && !s.opts.Now().Before(h.renewAt) {
		return nil
	}
	return h
}

func (l *Login) heldUntilItEnds() *held {
	h := &held{token: l.Secrets.Access, expiry: l.Expiry, renewAt: renewal(l.Obtained, l.Expiry)}
	if !l.Renews() {
		h.renewAt = l.Expiry
	}
	return h
}

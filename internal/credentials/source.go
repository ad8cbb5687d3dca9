package credentials

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Options tell where to find credentials. The command line or a configuration fills
// them. The zero value finds none.
type Options struct {
	// Agent is the agent's URL, as the user wrote it.
	Agent string
	// Header holds the user's headers; Certificate: there is a client certificate. What
	// they answer needs no credential.
	Header      http.Header
	Certificate bool
	// Token is a bare token, key or user:password. It is placed where the card wants it.
	// At most one of Token and Command is set.
	Token Secret
	// Command prints a token or headers. It gets none of our variables.
	Command Command
	// HeaderBy names the source of Header's Authorization for the user; "" is --header.
	HeaderBy string
	// Scheme is the card's name of the scheme to sign in by, and where a secret goes; "":
	// the first that works.
	Scheme string
	// OAuth is the client for a sign-in.
	OAuth OAuth
	// Store has the sign-ins; nil: there are none.
	Store *Store
	// TLS has the authorities trusted for an identity provider.
	TLS *tls.Config
	// Learn gets each secret as soon as it is known, to be masked; nil: nobody.
	Learn func(secrets ...string)
	// Cure is the command that signs in, for messages; "": no sign-in is possible.
	Cure string
	// Log gets notices; nil: nothing.
	Log *slog.Logger
	// Now is the clock; nil: [time.Now].
	Now func() time.Time
}

// OAuth is the client, and where it signs in.
type OAuth struct {
	// ClientID is empty if the sign-in has to register a client.
	ClientID string
	Secret   Secret
	Scopes   []string // in place of the card's
	Issuer   string   // the user's identity provider
	// Redirect is the URL of this machine to come back to; "": any port.
	Redirect string
	Params   url.Values // further parameters for the provider
}

// A Source finds credentials for one agent. It is safe for concurrent use; the
// caller closes it.
type Source struct {
	opts Options
	http *http.Client
	// Caches of the command's credential and of the client's own token (OAuth's client
	// credentials); nil if that is not used.
	command, clientGrant *cache
	renewal              *cache // caches the token of the stored login

	mu sync.Mutex
	// login is the stored one, as last read, or what has replaced it. stale is the token of a stored
	// one that cannot be replaced: its refresh token was used.
	login *Login
	stale string
	// refusal is the agent's last challenge, for a sign-in; card is the agent's, if known.
	refusal *transport.Challenge
	card    *a2a.Card
}

// New makes a source. It reads nothing and sends nothing.
func New(opts *Options) *Source {
	s := &Source{opts: *opts}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.Learn == nil {
		s.opts.Learn = func(...string) {}
	}
	if s.opts.Log == nil {
		s.opts.Log = slog.New(slog.DiscardHandler)
	}
	s.http = oauth.NewHTTP(s.opts.TLS)
	switch o := &s.opts.OAuth; {
	case s.opts.Command.Line != "":
		s.command = newCache(s.opts.Now, s.getCommand)
	case s.opts.Token.IsZero() && o.ClientID != "" && !o.Secret.IsZero() && o.Issuer != "":
		s.clientGrant = newCache(s.opts.Now, s.getClientGrant)
	}
	s.renewal = newCache(s.opts.Now, s.renewLogin)
	return s
}

// Close ends renewals. It gives them a moment to be stored.
func (s *Source) Close() error {
	for _, c := range []*cache{s.command, s.clientGrant, s.renewal} {
		if c != nil {
			c.close()
		}
	}
	s.http.CloseIdleConnections()
	return nil
}

// Credential is a transport.CredentialSource: nil without an error stands for no credential. Of
// a refusal without another credential the error tells what the user can do.
func (s *Source) Credential(ctx context.Context, c *transport.Challenge) (*transport.Credential, error) {
	s.mu.Lock()
	if c.Card != nil {
		if s.card == nil && s.clientGrant != nil && s.opts.OAuth.Scopes == nil && len(wantedScopes(c.Card)) > 0 {
			s.clientGrant.set(nil) // what was got for a closed card has not the scopes that it wants
		}
		s.card = c.Card
	}
	if c.Status != 0 {
		s.refusal = c
	}
	s.mu.Unlock()
	cred, err := s.find(ctx, c)
	switch {
	case err != nil && c.Card == nil && c.Status == 0 && ctx.Err() == nil:
		// Cards are mostly public, and a new sign-in needs the card.
		return nil, nil
	case err != nil:
		return nil, s.explain(err)
	case c.Status == 0, c.Status == http.StatusUnauthorized && cred != nil && !cred.Equal(c.Refused):
		return cred, nil
	}
	return nil, s.cure(c)
}

// find returns what was given for this agent, or else a stored sign-in, or nil. (Rejected: both
// in one request, for cards that want two secrets of ours. No agent that was tried does.)
func (s *Source) find(ctx context.Context, c *transport.Challenge) (*transport.Credential, error) {
	given, err := s.own(ctx, c)
	if err != nil || given != nil {
		return given, err
	}
	return s.signedIn(ctx, c)
}

// own returns what was given for this agent without a sign-in; nil for nothing.
func (s *Source) own(ctx context.Context, c *transport.Challenge) (*transport.Credential, error) {
	switch {
	case !s.opts.Token.IsZero():
		secret, err := s.opts.Token.read()
		if err != nil {
			return nil, err
		}
		return s.place(secret, c)
	case s.command != nil:
		return s.fromCache(ctx, s.command, c)
	case s.clientGrant == nil, c.Card == nil && c.Status == 0:
		return nil, nil // the card says which scopes it wants, and is mostly public
	}
	return s.fromCache(ctx, s.clientGrant, c)
}

// fromCache returns the credential of a cache: another one if the agent has refused it.
func (s *Source) fromCache(ctx context.Context, k *cache, c *transport.Challenge) (*transport.Credential, error) {
	h, err := k.value(ctx, func(h *held) bool {
		cred, err := s.credentialOf(h, c)
		return c.Status == http.StatusUnauthorized && c.Refused != nil && err == nil && cred.Equal(c.Refused)
	})
	if h == nil || err != nil {
		return nil, err
	}
	return s.credentialOf(h, c)
}

// credentialOf makes the credential of what a cache holds.
func (s *Source) credentialOf(h *held, c *transport.Challenge) (*transport.Credential, error) {
	if h.header != nil {
		return &transport.Credential{Header: h.header}, nil
	}
	return s.place(h.token, c)
}

// place makes the credential of a secret; nil while it is not known where that goes.
func (s *Source) place(secret string, c *transport.Challenge) (*transport.Credential, error) {
	if s.opts.Scheme != "" && c.Card == nil && c.Status == 0 {
		return nil, nil // the card says where the user wants it
	}
	key, err := s.opts.placed(secret, c)
	if err != nil {
		return nil, err
	}
	s.opts.Learn(secret, key.Value)
	return credential(key), nil
}

func (s *Source) getCommand(ctx context.Context, _ string) (*held, error) {
	h, err := s.opts.Command.ask(ctx, safe.Bare(s.opts.Agent), s.opts.Now())
	if err != nil {
		return nil, fmt.Errorf("the credential command: %w", err)
	}
	s.opts.Learn(h.token)
	for _, values := range h.header {
		s.opts.Learn(values...)
	}
	return h, nil
}

// getClientGrant gets a token for the client itself.
func (s *Source) getClientGrant(ctx context.Context, _ string) (*held, error) {
	secret, err := s.clientSecret()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	card := s.card
	s.mu.Unlock()
	provider, err := s.configured(ctx, card)
	if err != nil {
		return nil, err
	}
	scopes := s.opts.OAuth.Scopes
	if scopes == nil {
		scopes = wantedScopes(card)
	}
	client := s.client(s.opts.OAuth.ClientID, secret, s.opts.OAuth.Params)
	t, err := client.ClientCredentials(ctx, provider, scopes)
	if err != nil {
		return nil, err
	}
	s.opts.Learn(t.Access)
	return &held{token: t.Access, expiry: t.Expiry, renewAt: renewAt(t.Obtained, t.Expiry)}, nil
}

func (s *Source) client(id, secret string, params url.Values) *oauth.Client {
	return &oauth.Client{ID: id, Secret: secret, Params: params, HTTP: s.http, Now: s.opts.Now}
}

// clientSecret reads the secret of the configured client, "" if there is none.
func (s *Source) clientSecret() (string, error) {
	if s.opts.OAuth.Secret.IsZero() {
		return "", nil
	}
	secret, err := s.opts.OAuth.Secret.read()
	s.opts.Learn(secret)
	return secret, err
}

// refused returns the agent's last answer with 401 or 403; nil: none.
func (s *Source) refused() *transport.Challenge {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusal
}

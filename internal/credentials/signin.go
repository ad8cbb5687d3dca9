package credentials

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A User is the signing-in user, on a terminal or behind an editor. A method returns
// [ErrCannot] for what is not possible there.
type User interface {
	// Confirm asks whether a provider that only the agent has named is the right one.
	Confirm(ctx context.Context, q *oauth.Question) (yes bool, err error)
	// Visit opens a page of this machine in the user's browser, and returns at once. It
	// leads to the provider.
	Visit(ctx context.Context, local, text string) error
	// Enter tells the user to enter a code at a page, on any device.
	Enter(ctx context.Context, code, page, complete string, until time.Time) error
	// Browser reports whether the user would see a page that opens on this machine.
	Browser() bool
	// Secret asks for a secret, without echo.
	Secret(ctx context.Context, prompt string) (string, error)
}

// ErrCannot: this user cannot be asked that.
var ErrCannot = errors.New("that cannot be asked here")

// SignIn tells how to sign in.
type SignIn struct {
	// Card is the agent's card, nil if it cannot be had without credentials.
	Card   *a2a.Card
	Device bool // uses a device code even with a browser
}

// SignIn signs the user in and stores the result.
func (s *Source) SignIn(ctx context.Context, how *SignIn, user User) (*Login, error) {
	return s.newLogin(ctx, func(login *Login) error {
		to, err := s.plan(how)
		if err != nil {
			return err
		}
		return s.signInTo(ctx, login, to, how, user)
	})
}

// newLogin makes a login, has it filled in, and stores it.
func (s *Source) newLogin(ctx context.Context, fill func(*Login) error) (*Login, error) {
	login := &Login{Origin: Origin(s.opts.Agent), Agent: safe.Bare(s.opts.Agent), Created: s.opts.Now()}
	if s.opts.Store == nil || login.Origin == "" {
		return nil, errors.New("a sign-in is kept by the agent's URL, and this agent has none")
	}
	if err := fill(login); err != nil {
		return nil, err
	}
	s.opts.Learn(login.Secrets.all()...)
	return login, s.store(ctx, login)
}

// store stores a login. It replaces the agent's tokens and keys, and the logins of clients that
// were registered for it before.
func (s *Source) store(ctx context.Context, login *Login) error {
	unlock, err := s.opts.Store.Lock(ctx, login)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.opts.Store.Put(login); err != nil {
		return err
	}
	list, _ := s.opts.Store.List()
	for _, l := range list {
		if l.Origin == login.Origin && l.Agent == login.Agent && l.ClientID != login.ClientID && (l.Registered || l.ClientID == "") {
			if err := s.opts.Store.Delete(l); err != nil {
				return err
			}
		}
	}
	s.forget()
	return nil
}

// A target is what a sign-in answers: one scheme.
type target struct {
	// scheme is empty for the provider that the user has configured.
	scheme a2a.SecurityScheme
	scopes []string
	// confirmed are the origins to which the user has agreed in this sign-in.
	confirmed []string
}

// plan chooses the first of the card's alternatives of which one scheme is not covered, and
// that we can meet. (Rejected: several secrets in one request. No agent that was tried wants
// that.)
func (s *Source) plan(how *SignIn) (*target, error) {
	card := how.Card
	if card == nil {
		return s.planWithoutCard()
	}
	var why []string
	for _, alternative := range alternatives(card) {
		if s.opts.Scheme != "" && !slices.ContainsFunc(alternative, func(u a2a.SchemeUse) bool { return u.Scheme == s.opts.Scheme }) {
			continue
		}
		switch to, reason := s.targetOf(card, alternative); {
		case reason != "":
			why = append(why, reason)
		case to != nil:
			return to, nil
		}
	}
	switch {
	case s.opts.Scheme != "" && len(why) == 0:
		return nil, fmt.Errorf("the agent's card has no scheme %q: it has %s", s.opts.Scheme, schemeNames(card))
	case len(why) > 0:
		return nil, errors.New(strings.Join(why, "; "))
	}
	to, err := s.planWithoutCard()
	if err != nil && len(card.Requirements) > 0 {
		return nil, errors.New("nothing is left to sign in to: what the card asks for, the other options give already")
	}
	return to, err
}

// alternatives lists the card's requirements. A card with schemes and no requirement has
// forgotten it: each scheme is one.
func alternatives(card *a2a.Card) (list []a2a.Requirement) {
	for _, r := range card.Requirements {
		if len(r) > 0 {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		for _, s := range card.Schemes {
			list = append(list, a2a.Requirement{{Scheme: s.Name}})
		}
	}
	return list
}

// targetOf returns the target of an alternative, nil if all of it is covered; reason tells why
// it cannot be met.
func (s *Source) targetOf(card *a2a.Card, alternative a2a.Requirement) (to *target, reason string) {
	for _, sc := range s.opts.uncovered(card, alternative) {
		switch sc.Type {
		case "mutualTLS":
			return nil, fmt.Sprintf("%q wants a certificate of yours: --client-cert and --client-key give it", sc.Name)
		case "http", "apiKey", "oauth2", "openIdConnect":
		default:
			return nil, fmt.Sprintf("the card wants %q, which is a kind of scheme that a2astdio does not know", sc.Name)
		}
		if to != nil {
			return nil, fmt.Sprintf("the card wants %q and %q at once: --header gives one of them", to.scheme.Name, sc.Name)
		}
		i := slices.IndexFunc(alternative, func(use a2a.SchemeUse) bool { return use.Scheme == sc.Name })
		to = &target{scheme: sc, scopes: alternative[i].Scopes}
	}
	return to, ""
}

// planWithoutCard uses what the user has configured, or what the agent has answered in
// place of its card.
func (s *Source) planWithoutCard() (*target, error) {
	var hint oauth.Hint
	refusal := s.refused()
	if refusal != nil {
		hint = oauth.ReadHint(refusal.Authenticate)
	}
	switch {
	case s.opts.OAuth.Issuer != "":
		return &target{scopes: hint.Scopes}, nil
	case refusal == nil:
		return nil, errors.New("the agent asks for no credentials, and has refused none: there is nothing to sign in to; --oauth-issuer names an identity provider that you know it wants")
	case s.opts.Header.Get("Authorization") != "":
		return nil, fmt.Errorf("nothing is left to sign in to: the agent refuses the Authorization of %s, which wins over a sign-in", s.headerBy())
	case hint.Scheme == "basic", hint.Scheme == "bearer":
		return &target{scheme: a2a.SecurityScheme{Type: "http", Scheme: hint.Scheme}}, nil
	}
	return nil, errors.New("the agent refuses you and does not say what it wants: --oauth-issuer names an identity provider, --header gives whatever else it is")
}

// signInTo fills in a login by asking for a secret, or at an identity provider.
func (s *Source) signInTo(ctx context.Context, login *Login, to *target, how *SignIn, user User) error {
	prompt := "token"
	switch {
	case to.scheme.Type != "apiKey" && to.scheme.Type != "http":
		return s.signInOAuth(ctx, login, to, how, user)
	case to.scheme.Type == "apiKey":
		prompt = fmt.Sprintf("key %q", to.scheme.Key)
	case to.scheme.Scheme == "basic":
		prompt = "user:password"
	}
	secret, err := user.Secret(ctx, prompt+" for "+login.Origin)
	if err != nil {
		return err
	}
	return s.putSecret(login, secret, func(secret string) (Key, error) {
		key, ok := keyFor(&to.scheme, secret)
		if !ok {
			return key, errors.New("it is to be written user:password")
		}
		return key, nil
	})
}

// putSecret puts a secret that the user has given into a login.
func (s *Source) putSecret(login *Login, secret string, place func(secret string) (Key, error)) error {
	secret, err := (Secret{Value: secret, Name: "what was given"}).read()
	if err != nil {
		return err
	}
	s.opts.Learn(secret)
	key, err := place(secret)
	login.Secrets.Keys = []Key{key}
	return err
}

// StoreToken stores a token, a key or user:password as a sign-in.
func (s *Source) StoreToken(ctx context.Context, how *SignIn, secret string) (*Login, error) {
	c := &transport.Challenge{Card: how.Card}
	if refusal := s.refused(); refusal != nil {
		c.Authenticate = refusal.Authenticate
	}
	return s.newLogin(ctx, func(login *Login) error {
		return s.putSecret(login, secret, func(secret string) (Key, error) { return s.opts.placed(secret, c) })
	})
}

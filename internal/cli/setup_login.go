package cli

import (
	"context"
	"errors"

	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// errNoLogin: the agent has no place to sign in, or nobody can be asked.
var errNoLogin = errors.New("bridge: nobody can sign in here")

// signInAtSetup is the [login] of a2astdio: it does what auth login does, at the
// setup's terminal. The store has sign-ins by origin, so nothing is stored with the
// agent.
func signInAtSetup(ctx context.Context, s *setup) ([]config.Entry, error) {
	if !s.asks() || s.link.canSignIn() != nil {
		return nil, errNoLogin
	}
	source := s.link.credentials
	card, err := s.link.client.PublicCard(ctx)
	if refused := (*a2a.Error)(nil); err != nil && !(errors.As(err, &refused) && refused.Unauthenticated()) {
		return nil, &notReached{err}
	}
	if helps, err := source.Needed(ctx, card); err != nil && !helps {
		return nil, err // what the options say goes before a sign-in
	}
	s.say("The agent wants to know who you are.")
	login, err := source.SignIn(ctx, &credentials.SignIn{Card: card}, &terminalUser{p: s.p, asker: s.asker})
	if err != nil {
		return nil, notSignedIn(err)
	}
	s.say("Signed in to %s", login.Origin)
	s.say("")
	return nil, nil
}

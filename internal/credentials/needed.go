package credentials

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Needed reports whether the user has to sign in; err is nil if that is not known. err
// is set if the agent wants a missing credential, if a sign-in has ended, or if the
// agent has refused what it would get again. helps: a sign-in would be used; a
// credential from an option would precede it. card may be nil.
func (s *Source) Needed(ctx context.Context, card *a2a.Card) (helps bool, err error) {
	c := &transport.Challenge{Card: card}
	if c.URL, err = url.Parse(s.opts.Agent); err != nil {
		return false, nil // it was parsed before, without an error
	}
	own, answered, err := s.own(ctx, c)
	if err != nil {
		return false, nil // the request reports the error, and no sign-in helps
	}
	helps = own == nil && s.opts.Header.Get("Authorization") == "" || len(s.opts.open(card, answered)) > 0
	cred, err := s.find(ctx, c)
	var over *ended
	switch {
	case errors.As(err, &over):
		return helps, over
	case err != nil:
		return false, nil // such as a provider that is down: nothing is known
	}
	if r := s.Refusal(); r != nil && r.Status == http.StatusUnauthorized && cred.Equal(r.Refused) {
		return helps, &ended{s.cure(r).Error()}
	}
	if missing := s.Missing(ctx, card); missing != "" {
		return helps, &ended{"the agent wants " + missing + ": " + s.signIn("")}
	}
	return helps, nil
}

// Given names what the user has given beside sign-ins, "" if nothing.
func (s *Source) Given() string {
	switch {
	case !s.opts.Token.IsZero(), s.command != nil, s.program != nil:
		return s.given()
	case s.opts.Header.Get("Authorization") != "":
		return s.headerBy()
	}
	return ""
}

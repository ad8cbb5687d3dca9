package credentials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// howToSignIn tells the user how to sign in, with these options more.
func (s *Source) howToSignIn(options string) string {
	if s.opts.Cure == "" {
		return "A2ASTDIO_TOKEN or --credential-command gives credentials"
	}
	return "sign in with: " + s.opts.Cure + options
}

// An endedError reports a sign-in that cannot be renewed. Callers treat it like a 401.
type endedError struct{ text string }

func (e *endedError) Error() string { return e.text }
func (e *endedError) Unwrap() error {
	return &a2a.Error{HTTPStatus: http.StatusUnauthorized, Message: e.text}
}

// explain adds to an error what the user can do about it.
func (s *Source) explain(err error) error {
	provider, ok := errors.AsType[*oauth.Error](err)
	switch {
	case ok && provider.Passing:
		return fmt.Errorf("%w: try again in a moment", err)
	case !errors.Is(err, errRefusedAgain):
		return err
	case s.command != nil:
		return &endedError{"it does not take what " + s.Given() + " gives, also what a second run gave: it may be meant for another agent, or not be enough"}
	}
	who := "the identity provider"
	if l := s.lastLogin(); l != nil && l.Provider != nil {
		who = l.Provider.Issuer
	}
	return &endedError{fmt.Sprintf("it refuses tokens of %s, also a new one: they may be meant for another agent (--oauth-scope and --oauth-param say what they are for), or not be enough; %s", who, s.howToSignIn(""))}
}

// cure returns an error that tells what the user can do about a refusal.
func (s *Source) cure(c *transport.Challenge) error {
	hint := oauth.ReadHint(c.Authenticate)
	login := s.lastLogin()
	given := s.Given()
	scopes := ""
	if len(hint.Scopes) > 0 && safeWords(hint.Scopes) {
		scopes = " --oauth-scope " + strings.Join(hint.Scopes, " --oauth-scope ")
	}
	switch {
	case c.Status == http.StatusForbidden && login != nil && scopes != "":
		return errors.New("your sign-in lacks permissions: " + s.howToSignIn(scopes))
	case c.Status == http.StatusForbidden && login != nil:
		return errors.New("your account may not do that; for another one: " + s.howToSignIn(""))
	case given != "":
		return errors.New("it does not take what " + given + " gives")
	case login != nil:
		return errors.New("it does not take your sign-in, which has ended or is wrong: " + s.howToSignIn(scopes))
	case s.opts.Cure == "":
		return errors.New(s.howToSignIn(""))
	}
	return errors.New(s.howToSignIn(scopes) + "; a token or key that you have goes into A2ASTDIO_TOKEN")
}

// Needed reports whether the user has to sign in; err is nil if that is not known. err
// is set if the agent wants a credential and nothing is given, if a sign-in has ended, or if the
// agent has refused what it would get again. helps: a sign-in would be used; a
// credential from an option would precede it. card may be nil.
func (s *Source) Needed(ctx context.Context, card *a2a.Card) (helps bool, err error) {
	c := &transport.Challenge{Card: card}
	own, err := s.own(ctx, c)
	if err != nil {
		return false, nil // the request reports the error, and no sign-in helps
	}
	left := s.opts.uncoveredLeast(card)
	helps = own == nil && (s.opts.Header.Get("Authorization") == "" || len(left) > 0)
	cred, err := s.find(ctx, c)
	var over *endedError
	switch r := s.refused(); {
	case errors.As(err, &over):
		return helps, over
	case err != nil:
		return false, nil // such as a provider that is down: nothing is known
	case r != nil && r.Status == http.StatusUnauthorized && cred.Equal(r.Refused):
		return helps, &endedError{s.cure(r).Error()}
	case own != nil, len(left) == 0:
		return helps, nil
	}
	if l, err := s.current(); err != nil || l != nil && l.Over == "" {
		return helps, nil
	}
	return helps, &endedError{"the agent wants " + strings.Join(left, ", ") + ": " + s.howToSignIn("")}
}

// Given names what precedes a sign-in, "" if nothing does.
func (s *Source) Given() string {
	switch {
	case !s.opts.Token.IsZero():
		return s.opts.Token.Name
	case s.command != nil:
		return "--credential-command"
	case s.clientGrant != nil:
		return "the client " + s.opts.OAuth.ClientID
	case s.opts.Header.Get("Authorization") != "":
		return s.headerBy()
	}
	return ""
}

// headerBy names the source of the Authorization header, which precedes all others.
func (s *Source) headerBy() string { return cmp.Or(s.opts.HeaderBy, "--header") }

// safeWords reports whether foreign words may be part of a command that a user is told
// to type. Their length is that of a hint. (cmd.exe puts a variable's value in place of %NAME%.)
func safeWords(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "-") || strings.Contains(w, "%") || safe.ShellWord(w) != w
	})
}

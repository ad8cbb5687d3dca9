package credentials

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// signIn tells how to sign in.
func (s *Source) signIn(options string) string {
	if s.opts.Cure == "" {
		return "A2ASTDIO_TOKEN or --credential-command gives credentials"
	}
	return "sign in with: " + s.opts.Cure + options
}

// ended reports a sign-in that cannot be renewed. Callers treat it like a 401.
type ended struct{ text string }

func (e *ended) Error() string { return e.text }
func (e *ended) Unwrap() error {
	return &a2a.Error{HTTPStatus: http.StatusUnauthorized, Message: e.text}
}

// explain adds to an error what the user can do about it.
func (s *Source) explain(err error) error {
	var provider *oauth.Error
	switch {
	case errors.Is(err, errRefusedAgain):
		return s.refusedAgain()
	case errors.As(err, &provider) && provider.Passing:
		return fmt.Errorf("%w: try again in a moment", err)
	}
	return err
}

func (s *Source) refusedAgain() error {
	if s.command != nil {
		return &ended{"it does not take what " + s.given() + " gives, also what a second run gave: it may be meant for another agent, or not be enough"}
	}
	who := "the identity provider"
	if l := s.logins.known(); l != nil && l.Provider != nil {
		who = l.Provider.Issuer
	}
	return &ended{fmt.Sprintf("it refuses tokens of %s, also a new one: they may be meant for another agent (--oauth-scope and --oauth-param say what they are for), or not be enough; %s", who, s.signIn(""))}
}

// cure tells what the user can do about a refusal.
func (s *Source) cure(c *transport.Challenge) error {
	hint := oauth.ReadHint(c.Authenticate)
	login := s.logins.known()
	own := !s.opts.Token.IsZero() || s.command != nil || s.program != nil
	scopes := ""
	if len(hint.Scopes) > 0 && safeWords(hint.Scopes) {
		scopes = " --oauth-scope " + strings.Join(hint.Scopes, " --oauth-scope ")
	}
	switch {
	case c.Status == http.StatusForbidden && login != nil && scopes != "":
		return errors.New("your sign-in lacks permissions: " + s.signIn(scopes))
	case c.Status == http.StatusForbidden && login != nil:
		return errors.New("your account may not do that; for another one: " + s.signIn(""))
	case own:
		return errors.New("it does not take what " + s.given() + " gives")
	case s.opts.Header.Get("Authorization") != "":
		return errors.New("it does not take what " + s.headerBy() + " gives")
	case login != nil:
		return errors.New("it does not take your sign-in any more: " + s.signIn(scopes))
	case s.opts.Cure == "":
		return errors.New(s.signIn(""))
	}
	return errors.New(s.signIn(scopes) + "; a token or key that you have goes into A2ASTDIO_TOKEN")
}

// headerBy names the source of the Authorization header, which precedes all others.
func (s *Source) headerBy() string { return cmp.Or(s.opts.HeaderBy, "--header") }

// given names the source of the credential.
func (s *Source) given() string {
	switch {
	case !s.opts.Token.IsZero():
		return s.opts.Token.Name
	case s.command != nil:
		return "--credential-command"
	}
	return "the client " + s.opts.OAuth.ClientID
}

// safeWords reports whether foreign words may be part of a command that a user is told
// to type.
func safeWords(words []string) bool {
	for _, w := range words {
		for _, r := range w {
			if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/-", r) {
				return false
			}
		}
		if len(w) > 200 || strings.HasPrefix(w, "-") {
			return false
		}
	}
	return len(words) <= 16
}

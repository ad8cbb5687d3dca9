package credentials

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// schemeNamed returns a card's scheme, without a Type if the card has none of this name.
func schemeNamed(card *a2a.Card, name string) a2a.SecurityScheme {
	for _, s := range card.Schemes {
		if s.Name == name {
			return s
		}
	}
	return a2a.SecurityScheme{Name: name}
}

// keyFor places a secret where a scheme wants it; false: it takes no such secret.
func keyFor(s *a2a.SecurityScheme, secret string) (Key, bool) {
	switch {
	case s.Type == "apiKey" && s.Key != "":
		in := s.Location
		if in != "query" && in != "cookie" {
			in = "header"
		}
		return Key{In: in, Name: s.Key, Value: secret}, true
	case s.Type == "http" && s.Scheme == "basic":
		if !strings.Contains(secret, ":") {
			return Key{}, false // it wants user:password
		}
		return authorization("Basic " + base64.StdEncoding.EncodeToString([]byte(secret))), true
	case s.Type == "http" && s.Scheme != "" && s.Scheme != "bearer":
		return authorization(s.Scheme + " " + secret), true
	case s.Type == "http", s.Type == "oauth2", s.Type == "openIdConnect":
		return bearerKey(secret), true
	}
	return Key{}, false
}

func authorization(value string) Key { return Key{In: "header", Name: "Authorization", Value: value} }

// bearerKey takes a token with or without "Bearer", as users paste it.
func bearerKey(token string) Key {
	if len(token) > 7 && strings.EqualFold(token[:7], "bearer ") {
		token = strings.TrimSpace(token[7:])
	}
	return authorization("Bearer " + token)
}

// covered reports whether a scheme is answered by what the user gives beside the credential:
// a header or a certificate.
func (o *Options) covered(s *a2a.SecurityScheme) bool {
	switch s.Type {
	case "apiKey":
		switch s.Location {
		case "query":
			u, err := url.Parse(o.Agent)
			return err == nil && u.Query().Has(s.Key)
		case "cookie":
			return strings.Contains("; "+o.Header.Get("Cookie"), "; "+s.Key+"=")
		}
		return s.Key != "" && o.Header.Get(s.Key) != ""
	case "http", "oauth2", "openIdConnect":
		return o.Header.Get("Authorization") != ""
	case "mutualTLS":
		return o.Certificate
	}
	return false
}

// placed returns where a secret goes: to the scheme that the user names; else to the uncovered
// scheme of the first alternative with exactly one. Without a
// card, or if the card wants no such secret, it becomes a bearer token, which most agents
// take; or user and password, if the agent has asked for these.
func (o *Options) placed(secret string, c *transport.Challenge) (Key, error) {
	if o.Scheme == "" || c.Card == nil {
		return o.placedByCard(secret, c), nil
	}
	named := schemeNamed(c.Card, o.Scheme)
	if named.Type == "" {
		return Key{}, fmt.Errorf("the agent's card has no scheme %q: it has %s", o.Scheme, schemeNames(c.Card))
	}
	key, ok := keyFor(&named, secret)
	if !ok {
		return Key{}, fmt.Errorf("the scheme %q of the agent's card does not take such a secret: it is of the type %s", o.Scheme, strings.TrimSpace(named.Type+" "+named.Scheme))
	}
	return key, nil
}

func schemeNames(card *a2a.Card) string {
	var names []string
	for _, s := range card.Schemes {
		names = append(names, s.Name)
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

func (o *Options) placedByCard(secret string, c *transport.Challenge) Key {
	if c.Card != nil {
		for _, alternative := range c.Card.Requirements {
			if left := o.uncovered(c.Card, alternative); len(left) == 1 {
				if key, ok := keyFor(&left[0], secret); ok {
					return key
				}
			}
		}
	}
	basic := a2a.SecurityScheme{Type: "http", Scheme: oauth.ReadHint(c.Authenticate).Scheme}
	if key, ok := keyFor(&basic, secret); ok && basic.Scheme == "basic" {
		return key
	}
	return bearerKey(secret)
}

// uncovered lists the schemes of an alternative that are not covered.
func (o *Options) uncovered(card *a2a.Card, alternative a2a.Requirement) (list []a2a.SecurityScheme) {
	for _, use := range alternative {
		if s := schemeNamed(card, use.Scheme); !o.covered(&s) {
			list = append(list, s)
		}
	}
	return list
}

// uncoveredLeast names the uncovered schemes of the alternative with the fewest; nil if one
// alternative has none, or the card wants nothing.
func (o *Options) uncoveredLeast(card *a2a.Card) (left []string) {
	if card == nil {
		return nil
	}
	for i, alternative := range card.Requirements {
		var names []string
		for _, s := range o.uncovered(card, alternative) {
			names = append(names, s.Name)
		}
		if len(names) == 0 {
			return nil
		}
		if i == 0 || len(names) < len(left) {
			left = names
		}
	}
	return left
}

// maxSecret bounds a secret: tokens of users in many groups have some ten kB.
const maxSecret = 64 << 10

// A Secret is where a secret is. At most one of Value, File and Command is set.
type Secret struct {
	// Value is the secret itself, from an environment variable. It never comes from an
	// argument, which everybody on the machine can read.
	Value string
	// File holds it. It is read each time, because it may be replaced.
	File string
	// Command prints it: it becomes the line of [Options.Command].
	Command string
	// Name is its name in messages: A2ASTDIO_TOKEN.
	Name string
}

// IsZero reports whether no place is set.
func (s Secret) IsZero() bool { return s.Value == "" && s.File == "" && s.Command == "" }

// read returns the secret, without surrounding blanks.
func (s Secret) read() (string, error) {
	value := s.Value
	if s.File != "" {
		b, err := safe.ReadPrivate(s.File, maxSecret)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.Name, err)
		}
		value = string(b)
	}
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		return "", fmt.Errorf("%s is empty", s.Name)
	case len(value) > maxSecret, strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r >= 0x7f }):
		return "", fmt.Errorf("%s holds more than one line of plain characters, so it is no token or password", s.Name)
	}
	return value, nil
}

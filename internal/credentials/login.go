package credentials

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport"
)

// A Login is a stored sign-in, for one origin and one OAuth client. All but Secrets may
// be shown.
type Login struct {
	// Origin is the agent's; Agent is its URL, without a query.
	Origin string `json:"origin"`
	Agent  string `json:"agent"`
	// Account is the user's account, if the provider tells.
	Account string    `json:"account,omitempty"`
	Created time.Time `json:"created"`

	// The rest is OAuth's. Provider was configured, or confirmed by the user: secrets go
	// to its endpoints only.
	Provider *oauth.Provider `json:"provider,omitempty"`
	ClientID string          `json:"clientId,omitempty"`
	// Registered: we have registered that client, for this sign-in.
	Registered bool       `json:"registered,omitempty"`
	Scopes     []string   `json:"scopes,omitempty"`
	Params     url.Values `json:"params,omitempty"`
	Obtained   time.Time  `json:"obtained,omitzero"`
	Expiry     time.Time  `json:"expiry,omitzero"`
	// Over tells why it can no longer be renewed. Then there is no refresh token.
	Over string `json:"over,omitempty"`

	Secrets Secrets `json:"-"`
}

// Secrets are shown to nobody.
type Secrets struct {
	Access  string `json:"access,omitempty"`
	Refresh string `json:"refresh,omitempty"`
	// ClientSecret is the secret of a client that we have registered. A configured one is
	// not stored.
	ClientSecret string `json:"clientSecret,omitempty"`
	Keys         []Key  `json:"keys,omitempty"`
}

// A Key is a secret that does not expire: an API key, a password, a token.
type Key struct {
	In    string `json:"in"` // header, query or cookie
	Name  string `json:"name"`
	Value string `json:"value"`
}

// all lists the secrets, for masks; "" stands for what is missing.
func (s *Secrets) all() []string {
	list := []string{s.Access, s.Refresh, s.ClientSecret}
	for _, k := range s.Keys {
		list = append(list, k.Value)
	}
	return list
}

// held returns the login's token as a cache has it, nil if it is over, or has keys.
func (l *Login) held() *held {
	if l.Over != "" || l.Secrets.Access == "" {
		return nil
	}
	h := &held{token: l.Secrets.Access, header: http.Header{"Authorization": {"Bearer " + l.Secrets.Access}}, expiry: l.Expiry, renewAt: l.Expiry}
	if l.Renews() {
		h.renewAt = renewAt(l.Obtained, l.Expiry)
	}
	return h
}

// credential makes the agent's credential of keys.
func credential(keys ...Key) *transport.Credential {
	c := &transport.Credential{Header: http.Header{}, Query: url.Values{}}
	for _, k := range keys {
		switch k.In {
		case "query":
			c.Query.Set(k.Name, k.Value)
		case "cookie":
			c.Cookies = append(c.Cookies, &http.Cookie{Name: k.Name, Value: k.Value})
		default:
			c.Header.Set(k.Name, k.Value)
		}
	}
	return c
}

// Renews reports whether the login can be renewed. It is false for one without its
// secrets.
func (l *Login) Renews() bool { return l.Secrets.Refresh != "" }

// token stands for the login in comparisons.
func (l *Login) token() string {
	if l.Secrets.Access != "" {
		return l.Secrets.Access
	}
	b, _ := json.Marshal(l.Secrets.Keys) // of strings
	return string(b)
}

// setTokens takes a provider's tokens. What the provider leaves out stays.
func (l *Login) setTokens(t *oauth.Token) {
	l.Secrets.Access, l.Obtained, l.Expiry, l.Over = t.Access, t.Obtained, t.Expiry, ""
	if t.Refresh != "" {
		l.Secrets.Refresh = t.Refresh
	}
	if t.Scopes != nil {
		l.Scopes = t.Scopes
	}
}

// isFor reports whether the login is for an agent of this origin. If the user has named a
// client, that of another one is not; a token of the user's own is of none.
func (l *Login) isFor(origin, client string) bool {
	return l.Origin == origin && (client == "" || l.ClientID == "" || l.ClientID == client)
}

// Origin is the key of stored credentials: the scheme, host and port of an agent's URL;
// "" if it has none.
func Origin(agent string) string {
	u, err := url.Parse(agent)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return safe.Origin(u)
}

package transport

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A Credential is what a request carries so that the agent knows who is asking.
// It must not be changed once it was returned by a [CredentialSource].
type Credential struct {
	Header http.Header
	// Query is added to the URL's own.
	Query url.Values
	// Cookies are sent by name and value.
	Cookies []*http.Cookie
}

// Equal reports whether two credentials put the same into a request; nil is none.
func (c *Credential) Equal(other *Credential) bool {
	return reflect.DeepEqual(c, other)
}

// A Challenge is what a [CredentialSource] is asked with.
type Challenge struct {
	// URL is where the request goes: to the origin of the agent, or to one that
	// the user trusts.
	URL *url.URL
	// Card is the agent's card; nil as long as it is not known, since the request
	// for the card may need a credential, too.
	Card *a2a.Card
	// Status is 0 for a request that has not been made yet. Otherwise the agent
	// has answered 401 or 403 to one that carried Refused, nil for none.
	Status  int
	Refused *Credential
	// Authenticate holds the WWW-Authenticate headers of that answer.
	Authenticate []string
}

// A CredentialSource returns what a request is to carry. It is asked before each
// request, so it keeps what it has, and may be asked concurrently.
//
// No credential and no error mean that the request goes out without. If the agent
// answers 401 or 403, the source is asked once more, and the request is repeated once
// if it returns another credential: an agent that answers so has not taken the request.
// An error before the request ends it, and wraps [ErrCredentials]; an error after the
// agent's answer is added to what the agent said, so its text says what the user can
// do.
//
// ctx is the request's, which may have no time limit: the source sets its own.
type CredentialSource func(ctx context.Context, c *Challenge) (*Credential, error)

// ErrCredentials: the credentials that the agent wants cannot be had now. Nothing was
// sent.
var ErrCredentials = errors.New("agent: no credentials")

// maxRefusal is how much of a refusal is read to keep its connection.
const maxRefusal = 64 << 10

// put puts the credential, which may be nil, and the user's headers into a request. Of two headers of
// one name the user's wins.
func (c *Credential) put(req *http.Request, users http.Header) {
	c = cmp.Or(c, &Credential{})
	for _, header := range []http.Header{c.Header, users} {
		for name, values := range header {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	if query := c.Query.Encode(); query != "" {
		req.URL.RawQuery = strings.TrimPrefix(req.URL.RawQuery+"&"+query, "&")
	}
	for _, cookie := range c.Cookies {
		req.Header["Cookie"] = []string{strings.TrimPrefix(req.Header.Get("Cookie")+"; "+cookie.Name+"="+cookie.Value, "; ")}
	}
}

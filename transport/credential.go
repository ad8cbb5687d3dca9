package transport

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/a2astdio/a2astdio/internal/safe"
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

// A wallet is the guard's part that knows the credentials.
type wallet struct {
	source CredentialSource // may be nil
	// header goes with each request: see [ClientOptions.Header].
	header http.Header
	// insecure: certificates are not verified, so that nothing may be shown to a
	// host that is not this machine.
	insecure bool
	// certificate: the agent is shown one of the user's.
	certificate bool
	card        atomic.Pointer[a2a.Card]
}

// credential asks the source what a request is to carry.
func (w *wallet) credential(req *http.Request) (*Credential, error) {
	if w.source == nil {
		return nil, nil
	}
	cred, err := w.source(req.Context(), &Challenge{URL: req.URL, Card: w.card.Load()})
	if err == nil {
		return cred, nil
	}
	if req.Context().Err() != nil {
		return nil, err // the caller has given up, and reports that itself
	}
	return nil, failf(errors.Join(ErrCredentials, err), "%s", strings.TrimPrefix(err.Error(), "agent: "))
}

// answered reads the agent's answer to a credential. After a refusal it asks the source
// for another one, and returns nil if there is none; what the user can do is then noted
// for the error.
func (w *wallet) answered(req *http.Request, resp *http.Response, cred *Credential) (*Credential, error) {
	if w.source == nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return nil, nil
	}
	next, err := w.source(req.Context(), &Challenge{
		URL: req.URL, Card: w.card.Load(), Status: resp.StatusCode, Refused: cred,
		Authenticate: resp.Header.Values("WWW-Authenticate"),
	})
	switch {
	case err != nil && req.Context().Err() != nil:
		return nil, req.Context().Err()
	case err != nil:
		exchangeOf(req.Context()).cure = strings.TrimPrefix(err.Error(), "agent: ")
		return nil, nil
	case next.Equal(cred):
		return nil, nil
	}
	return next, nil
}

// put puts the credentials into a request, which is changed. What the user has
// given as a header wins over the source's of that name.
func (w *wallet) put(req *http.Request, cred *Credential) error {
	if w.insecure && !safe.ThisMachine(req.URL.Hostname()) && (cred != nil || len(w.header) > 0 || w.certificate) {
		return failf(nil, "certificates are not verified (--insecure), so your credentials are not sent to %s, which may be anybody: "+
			"--ca-file names the certificate to trust instead", req.URL.Host)
	}
	if cred != nil {
		for name, values := range cred.Header {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
		for name, values := range cred.Query {
			for _, value := range values {
				if req.URL.RawQuery != "" {
					req.URL.RawQuery += "&"
				}
				req.URL.RawQuery += url.QueryEscape(name) + "=" + url.QueryEscape(value)
			}
		}
	}
	for name, values := range w.header {
		if name == "Host" {
			req.Host = values[0]
			continue
		}
		req.Header[name] = values
	}
	if cred != nil {
		for _, cookie := range cred.Cookies {
			req.Header["Cookie"] = []string{strings.TrimPrefix(req.Header.Get("Cookie")+"; "+cookie.Name+"="+cookie.Value, "; ")}
		}
	}
	return nil
}

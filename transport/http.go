package transport

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/hashicorp/go-retryablehttp"
)

// A life is the context of one exchange with the agent: it ends with the caller's and
// with the client's. That of a drained stream outlives the caller's.
type life struct {
	ctx    context.Context
	cancel context.CancelFunc
	// detach cuts the tie to the caller's context.
	detach func() bool
	base   func() bool
}

func (c *Client) newLife(caller context.Context) *life {
	l := new(life)
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(caller))
	l.detach = context.AfterFunc(caller, l.cancel)
	l.base = context.AfterFunc(c.base, l.cancel)
	return l
}

// end ends it, and lets go of the two contexts.
func (l *life) end() {
	l.detach()
	l.base()
	l.cancel()
}

// An exchange is one request and its response.
type exchange struct {
	c      *Client
	caller context.Context
	ctx    context.Context
	a      *attempt
	what   string // the operation, or the card
	url    *url.URL
	resp   *http.Response
	// kind is opMethod for what is no operation; ownURL: no other operation has its URL.
	kind   opKind
	ownURL bool
}

// printable reports whether an ID from outside can be a header.
func printable(id string) bool {
	for _, b := range []byte(id) {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return id != "" && len(id) < 1024
}

// send makes a request, and again where that is allowed. caller is only asked whether it
// gave up.
func (c *Client) send(caller, ctx context.Context, client *retryablehttp.Client, d delivery, verb, what string, u *url.URL, header http.Header, body []byte) (*exchange, error) {
	x := &exchange{c: c, caller: caller, what: what, url: u, a: &attempt{delivery: d}}
	x.ctx = context.WithValue(ctx, attemptKey{}, x.a)
	var raw any
	if body != nil {
		raw = body
	}
	req, err := retryablehttp.NewRequestWithContext(x.ctx, verb, u.String(), raw)
	if err != nil {
		return nil, failf(err, "%s cannot be requested: %s", shown(u), reason(err))
	}
	req.Header = header
	if c.opts.UserAgent != "" {
		header.Set("User-Agent", c.opts.UserAgent)
	}
	resp, err := client.Do(req)
	if err != nil {
		if resp != nil {
			resp.Body.Close()
		}
		return nil, x.explainLoss(x.failed(err))
	}
	if err := checkEncoding(shown(u), resp); err != nil {
		return nil, err
	}
	x.resp = resp
	return x, nil
}

// notAgain ends each message that is wrapped with ErrPossiblyDelivered.
const notAgain = "it was possibly delivered, so it is not sent again"

// failed says why no response came, and whether the request may have been delivered.
func (x *exchange) failed(err error) error {
	is, at := err, shown(x.url)
	wrote := x.a.wrote()
	if wrote && !x.a.delivery.repeat {
		is = errors.Join(ErrPossiblyDelivered, err)
	}
	switch gone := x.c.gone(x.caller, err, is, at, x.what); {
	case gone != nil:
		return gone
	case !wrote, strings.Contains(unreachable(err), cureTLS):
		return failf(errors.Join(ErrUnreachable, err), "%s: %s", at, unreachable(err))
	case x.ctx.Err() != nil:
		return failf(is, "%s did not answer %s within %v: --timeout allows more", at, x.what, x.c.timeout)
	case x.a.delivery.repeat:
		return failf(errors.Join(ErrInterrupted, err), "%s: %s before it answered %s", at, reason(err), x.what)
	}
	return failf(is, "%s: %s before it answered %s: %s", at, reason(err), x.what, notAgain)
}

// cut returns the error for an answer that stopped short.
func (x *exchange) cut(err error) error {
	is, again := errors.Join(ErrInterrupted, err), ""
	if !x.a.delivery.repeat {
		is, again = errors.Join(ErrPossiblyDelivered, is), ": "+notAgain
	}
	if gone := x.c.gone(x.caller, err, is, shown(x.url), x.what); gone != nil {
		return gone
	}
	return x.explainLoss(failf(is, "%s: %s in the middle of its answer to %s%s", shown(x.url), reason(err), x.what, again))
}

// gone returns the error for an end that the network has not caused: a refusal of ours
// that is within err, a client that was closed, or a caller that gave up; nil for any
// other end. is is what it wraps besides.
func (c *Client) gone(caller context.Context, err, is error, at, what string) error {
	var said *failure
	switch {
	case errors.As(err, &said):
		return said
	case c.base.Err() != nil:
		return failf(errors.Join(ErrEnded, is), "%s: the client was closed", at)
	case caller.Err() != nil:
		return failf(errors.Join(caller.Err(), is), "%s: %s was given up: %v", at, what, caller.Err())
	}
	return nil
}

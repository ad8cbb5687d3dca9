package transport

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// The types that we take. For a stream, JSON is named as well: an agent may
// refuse at once, or have no more than one thing to say.
const (
	acceptJSON   = "application/json"
	acceptStream = "text/event-stream, application/json"
)

// stream calls a method that is expected to stream. A plain result counts as
// its only event.
func (c *Client) stream(ctx context.Context, e *endpoint, op operation, method string, params any) (*Stream, error) {
	s, result, err := c.open(ctx, e, op, method, params)
	if err != nil || s != nil {
		return s, err
	}
	return newAnswerStream(c, e, result)
}

// open calls a method and returns either its stream or its result.
func (c *Client) open(ctx context.Context, e *endpoint, op operation, method string, params any) (*Stream, json.RawMessage, error) {
	life := c.newLife(ctx)
	x, err := c.post(ctx, life.ctx, e, op, method, params, acceptStream)
	if err != nil {
		life.end()
		return nil, nil, err
	}
	if x.isStream() && x.resp.StatusCode < 300 {
		return newStream(c, e, x, life), nil, nil
	}
	defer life.end()
	// It is no stream, so its body has an end, and soon.
	limit := time.AfterFunc(c.timeout, life.cancel)
	defer limit.Stop()
	result, err := x.result()
	return nil, result, e.explain(err)
}

// task calls a method that returns a task.
func (c *Client) task(ctx context.Context, e *endpoint, method string, params any) (*a2a.Event, error) {
	result, err := c.unary(ctx, e, opRepeat, method, params)
	if err != nil {
		return nil, err
	}
	ev := new(a2a.Event)
	e.protocol.decode(rawjson.View(result), ev)
	if ev.Kind != a2a.EventTask {
		return nil, failf(nil, "%s answered %s with something that is no task", shown(e.url), method)
	}
	return ev, nil
}

// unary calls a method that has one answer, within the time limit.
func (c *Client) unary(ctx context.Context, e *endpoint, op operation, method string, params any) (json.RawMessage, error) {
	life := c.newLife(ctx)
	defer life.end()
	limited, cancel := context.WithTimeout(life.ctx, c.timeout)
	defer cancel()
	return c.ask(ctx, limited, e, op, method, params)
}

// untimed is for a call that lasts as long as the agent's work.
func (c *Client) untimed(ctx context.Context, e *endpoint, op operation, method string, params any) (json.RawMessage, error) {
	life := c.newLife(ctx)
	defer life.end()
	return c.ask(ctx, life.ctx, e, op, method, params)
}

func (c *Client) ask(caller, ctx context.Context, e *endpoint, op operation, method string, params any) (json.RawMessage, error) {
	x, err := c.post(caller, ctx, e, op, method, params, acceptJSON)
	if err != nil {
		return nil, err
	}
	result, err := x.result()
	return result, e.explain(err)
}

// A life is the context of one exchange with the agent: it ends with the
// caller's and with the client's, but what is drained outlives the caller's.
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
	what   string // the method, or the card
	url    *url.URL
	resp   *http.Response
}

// post makes a JSON-RPC request and returns when its response has begun.
func (c *Client) post(caller, ctx context.Context, e *endpoint, op operation, method string, params any, accept string) (*exchange, error) {
	if err := e.checkFamily(method); err != nil {
		return nil, err
	}
	body, err := (&request{Version: "2.0", ID: c.lastID.Add(1), Method: method, Params: params}).encode()
	if err != nil {
		return nil, err
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {accept}}
	e.protocol.header(header)
	if printable(op.lastEventID) {
		header.Set("Last-Event-ID", op.lastEventID)
	}
	c.mu.Lock()
	// One line for each: a2a-go's servers do not split a list at commas.
	for _, uri := range c.extensions {
		header.Add(e.protocol.extensionHeader(), uri)
	}
	c.mu.Unlock()
	return c.do(caller, ctx, op, http.MethodPost, method, e.url, header, body)
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

// do makes a request, and again where that is allowed. caller is only asked
// whether it gave up.
func (c *Client) do(caller, ctx context.Context, op operation, verb, what string, u *url.URL, header http.Header, body []byte) (*exchange, error) {
	x := &exchange{c: c, caller: caller, what: what, url: u, a: &attempt{op: op, counted: c.own != nil}}
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
	resp, err := c.retry.Do(req)
	if err != nil {
		if resp != nil {
			resp.Body.Close()
		}
		return nil, x.fate(x.failed(err))
	}
	x.resp = resp
	return x, nil
}

// failed says why no response came, and what that means for the request.
func (x *exchange) failed(err error) error {
	var said *failure
	if errors.As(err, &said) {
		return said
	}
	at := shown(x.url)
	wrote := x.a.wrote()
	is := err
	if wrote && !x.a.op.repeat {
		is = errors.Join(ErrPossiblyDelivered, err)
	}
	switch {
	case x.c.base.Err() != nil:
		return failf(errors.Join(ErrEnded, is), "%s: the client was closed", at)
	case x.caller.Err() != nil:
		return failf(errors.Join(x.caller.Err(), is), "%s: %s was given up: %v", at, x.what, x.caller.Err())
	case !wrote:
		return failf(errors.Join(ErrUnreachable, err), "%s: %s: is the agent running, and is --agent its URL?", at, reason(err))
	case x.ctx.Err() != nil && x.a.op.repeat:
		return failf(is, "%s did not answer %s within %v: --timeout allows more", at, x.what, x.c.timeout)
	case x.ctx.Err() != nil:
		return failf(is, "%s did not answer %s within %v: it may be at work on it all the same; --timeout allows more", at, x.what, x.c.timeout)
	case x.a.op.repeat:
		return failf(errors.Join(ErrInterrupted, err), "%s: %s before it answered %s", at, reason(err), x.what)
	}
	return failf(is, "%s: %s before it answered %s: %s", at, reason(err), x.what, notAgain)
}

// notAgain ends each message that is wrapped with ErrPossiblyDelivered.
const notAgain = "it was possibly delivered, so it is not sent again"

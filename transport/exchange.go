package transport

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// stream asks for an operation that is expected to stream. A plain result counts as its
// only event.
func (c *Client) stream(ctx context.Context, e *endpoint, op *operation) (*Stream, error) {
	s, result, err := c.open(ctx, e, op)
	if err != nil || s != nil {
		return s, err
	}
	return newAnswerStream(c, e, result)
}

// open asks for an operation and returns either its stream or its result.
func (c *Client) open(ctx context.Context, e *endpoint, op *operation) (*Stream, json.RawMessage, error) {
	life := c.newLife(ctx)
	limit := time.AfterFunc(c.timeout, life.cancel)
	if !op.delivery.single {
		limit.Stop() // an agent may be silent while it works on a message
	}
	x, err := c.post(ctx, life.ctx, e, op)
	limit.Stop()
	if err != nil {
		life.end()
		return nil, nil, err
	}
	if x.resp.StatusCode < 300 && (x.isStream() || x.isArray() || op.stream && x.isMislabelled()) {
		e.binding.again(op, x.resp.StatusCode, nil)
		_ = e.missing.learn(op, nil)
		return newStream(c, e, x, life), nil, nil
	}
	defer life.end()
	// It is no stream, so its body has an end, and soon.
	limit.Reset(c.timeout)
	defer limit.Stop()
	result, again, err := x.result(e.binding, op)
	if again {
		s, result, other := c.open(ctx, e, op)
		return s, result, e.moreTelling(other, err)
	}
	return nil, result, e.explain(e.missing.learn(op, err))
}

// task asks for an operation that returns a task.
func (c *Client) task(ctx context.Context, op *operation) (*a2a.Event, error) {
	e, result, err := c.unary(ctx, op)
	if err != nil {
		return nil, err
	}
	ev := new(a2a.Event)
	e.protocol.decode(rawjson.View(result), ev)
	if ev.Kind != a2a.EventTask {
		return nil, failf(nil, "%s answered %s with something that is no task", shown(e.url), op.what)
	}
	return ev, nil
}

// unary connects to the agent and asks for an operation that has one answer, within
// the time limit.
func (c *Client) unary(ctx context.Context, op *operation) (*endpoint, json.RawMessage, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	result, err := c.limited(ctx, e, op)
	return e, result, err
}

// limited asks for an operation that has one answer, within the time limit.
func (c *Client) limited(ctx context.Context, e *endpoint, op *operation) (json.RawMessage, error) {
	life := c.newLife(ctx)
	defer life.end()
	limited, cancel := context.WithTimeout(life.ctx, c.timeout)
	defer cancel()
	return c.roundTrip(ctx, limited, e, op)
}

// untimed is for an operation that lasts as long as the agent's work.
func (c *Client) untimed(ctx context.Context, e *endpoint, op *operation) (json.RawMessage, error) {
	life := c.newLife(ctx)
	defer life.end()
	return c.roundTrip(ctx, life.ctx, e, op)
}

// roundTrip makes the request of an operation and reads the answer. It does so again,
// in the other spelling, if the binding says so.
func (c *Client) roundTrip(caller, ctx context.Context, e *endpoint, op *operation) (json.RawMessage, error) {
	x, err := c.post(caller, ctx, e, op)
	if err != nil {
		return nil, err
	}
	result, again, err := x.result(e.binding, op)
	if again {
		result, other := c.roundTrip(caller, ctx, e, op)
		return result, e.moreTelling(other, err)
	}
	return result, e.explain(e.missing.learn(op, err))
}

// moreTelling picks between the errors of an operation's two spellings: that of the
// second (nil if it succeeded), or that of the first, if the agent does not serve the
// second's URL.
func (e *endpoint) moreTelling(second, first error) error {
	if isNotThere(second) && !isNotThere(first) {
		return e.explain(first)
	}
	return second
}

// isNotThere reports whether an error says that nothing is there for a verb and a path.
func isNotThere(err error) bool {
	var agent *a2a.Error
	return errors.As(err, &agent) && noRoute(agent.HTTPStatus) && (agent.Code == 0 || agent.Code == a2a.CodeMethodNotFound)
}

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
	// op is opMethod for what is no operation; ownURL: no other operation has its URL.
	// arrays: an answer in JSON may be a stream.
	kind           opKind
	ownURL, arrays bool
}

// post makes the request of an operation and returns when its response has begun.
func (c *Client) post(caller, ctx context.Context, e *endpoint, op *operation) (*exchange, error) {
	if err := e.checkFamily(op.method); err != nil {
		return nil, err
	}
	op.id, op.as = c.lastID.Add(1), op.kind
	r, err := e.binding.request(e.protocol, op)
	if err != nil {
		return nil, err
	}
	if err := e.missing.refusal(op.as); err != nil {
		return nil, err
	}
	op.what, op.ownURL = r.what, r.path != ""
	header := r.header(e.protocol)
	if printable(op.delivery.lastEventID) {
		header.Set("Last-Event-ID", op.delivery.lastEventID)
	}
	setTrace(header, op.delivery.trace)
	c.mu.Lock()
	extensions := c.extensions // replaced as a whole
	c.mu.Unlock()
	// One line for each: a2a-go's servers do not split a list at commas.
	for _, uri := range append(slices.Clip(extensions), op.delivery.activate...) {
		header.Add(e.protocol.extensionHeader(), uri)
	}
	x, err := c.do(caller, ctx, op.delivery, r.verb, r.what, r.below(e.url), header, r.body)
	if err != nil {
		return nil, e.missing.learn(op, err)
	}
	c.noteEcho(x.resp.Header.Values(e.protocol.extensionHeader()))
	x.kind, x.ownURL, x.arrays = op.as, op.ownURL, r.arrays
	return x, nil
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
func (c *Client) do(caller, ctx context.Context, d delivery, verb, what string, u *url.URL, header http.Header, body []byte) (*exchange, error) {
	return c.doBy(c.retry, caller, ctx, d, verb, what, u, header, body)
}

func (c *Client) doBy(client *retryablehttp.Client, caller, ctx context.Context, d delivery, verb, what string, u *url.URL, header http.Header, body []byte) (*exchange, error) {
	x := &exchange{c: c, caller: caller, what: what, url: u, a: &attempt{delivery: d, counted: c.own != nil}}
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
	decodeBody(shown(u), resp)
	x.resp = resp
	return x, nil
}

// failed says why no response came, and whether the request may have been delivered.
func (x *exchange) failed(err error) error {
	var said *failure
	if errors.As(err, &said) {
		return said
	}
	at := shown(x.url)
	wrote := x.a.wrote()
	is := err
	if wrote && !x.a.delivery.repeat {
		is = errors.Join(ErrPossiblyDelivered, err)
	}
	switch {
	case x.c.base.Err() != nil:
		return failf(errors.Join(ErrEnded, is), "%s: the client was closed", at)
	case x.caller.Err() != nil:
		return failf(errors.Join(x.caller.Err(), is), "%s: %s was given up: %v", at, x.what, x.caller.Err())
	case !wrote:
		return failf(errors.Join(ErrUnreachable, err), "%s: %s", at, unreachable(err))
	case x.ctx.Err() != nil && x.a.delivery.repeat:
		return failf(is, "%s did not answer %s within %v: --timeout allows more", at, x.what, x.c.timeout)
	case x.ctx.Err() != nil:
		return failf(is, "%s did not answer %s within %v: it may be at work on it all the same; --timeout allows more", at, x.what, x.c.timeout)
	case strings.Contains(unreachable(err), cureTLS):
		return failf(errors.Join(ErrUnreachable, err), "%s: %s", at, unreachable(err))
	case x.a.delivery.repeat:
		return failf(errors.Join(ErrInterrupted, err), "%s: %s before it answered %s", at, reason(err), x.what)
	}
	return failf(is, "%s: %s before it answered %s: %s", at, reason(err), x.what, notAgain)
}

// notAgain ends each message that is wrapped with ErrPossiblyDelivered.
const notAgain = "it was possibly delivered, so it is not sent again"

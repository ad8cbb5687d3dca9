package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A life is the context of one exchange with the agent: it ends with the caller's and
// with the client's. That of a drained stream outlives the caller's.
type life struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	// detach has it outlive the caller's context, detachClient the client's.
	detach, detachClient func() bool
}

// newLife makes a life that its owner must end. Its context has the caller's values:
// [ClientOptions.Wrap] may look for them.
func (c *Client) newLife(caller context.Context) *life {
	l := new(life)
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(caller))
	cancel := func() { l.cancel(nil) }
	l.detach, l.detachClient = context.AfterFunc(caller, cancel), context.AfterFunc(c.base, cancel)
	return l
}

// limit ends it after some time, with the cause [context.DeadlineExceeded], unless the timer is stopped
// before.
func (l *life) limit(after time.Duration) *time.Timer {
	return time.AfterFunc(after, func() { l.cancel(context.DeadlineExceeded) })
}

// end ends it, and lets go of the two contexts.
func (l *life) end() {
	l.detach()
	l.detachClient()
	l.cancel(nil)
}

// An exchange is an operation with its requests and the response to the last of them. The
// requests' context has it, because two libraries lie between here and the guard.
type exchange struct {
	c      *Client
	op     *operation
	caller context.Context // is only asked whether it gave up
	ctx    context.Context // of the requests: that of a life, mostly
	url    *url.URL
	resp   *http.Response
	life   *life // of a stream, whose end ends it; nil for any other answer
	// cure is what the user can do about a refusal; "" if the credentials' source has
	// no advice.
	cure string

	// alone is the connection that carries this exchange and no other, nil if it
	// is shared or encrypted.
	alone atomic.Pointer[plainConn]
	// possiblyDelivered: a request has got a connection, and the agent has not said that it did
	// nothing. (Where net/http knows that nothing was written it takes another by itself.)
	possiblyDelivered atomic.Bool
}

type exchangeKey struct{}

// exchangeOf returns the exchange that a request belongs to: [Client.send] makes each.
func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// gotConn is httptrace's hook: a request has got a connection.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.possiblyDelivered.Store(true)
	conn, _ := info.Conn.(*plainConn)
	if x.alone.Store(conn); conn != nil && x.op.delivery == deliverAtMostOnce {
		conn.carry(x.op.owner())
	}
}

// setTrace adds the headers of a trace (W3C Trace Context, sections 3.2 and 3.3), unless its parent is
// malformed: what comes from an editor becomes no other header.
func setTrace(h http.Header, t a2a.TraceContext) {
	if t.Parent == "" { // as mostly: to make the expression takes longer than the rest here
		return
	}
	if ok, _ := regexp.MatchString(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`, t.Parent); !ok {
		return
	}
	h.Set("Traceparent", t.Parent)
	if printable(t.State) {
		h.Set("Tracestate", t.State)
	}
}

// printable reports whether a word from outside can be a header's value: not empty, in ASCII, as all
// servers take it, and not so long that they refuse the request for it.
func printable(word string) bool {
	return word != "" && len(word) < 1024 && strings.IndexFunc(word, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// send makes an HTTP request, again where [mayRepeat] allows it, and returns when its response has
// begun, whatever its status. caller is the caller's context, ctx the request's.
func (c *Client) send(caller, ctx context.Context, op *operation, verb string, u *url.URL, header http.Header, body []byte) (*exchange, error) {
	x := &exchange{c: c, op: op, caller: caller, url: u}
	x.ctx = context.WithValue(ctx, exchangeKey{}, x)
	var raw any
	if body != nil {
		raw = body
	}
	req, err := retryablehttp.NewRequestWithContext(x.ctx, verb, u.String(), raw)
	if err != nil {
		cause, _ := Explain(err) // err has the whole URL, with its secrets
		return nil, failf(err, "%s cannot be requested: %s", safe.Shown(u), cause)
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
		return nil, x.lossError(err, false)
	}
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" { // see newTransport
		resp.Body.Close()
		return nil, failf(nil, "%s answered in the encoding %s, which was not asked for: turn compression off where the agent is served",
			safe.Shown(u), quote([]byte(encoding)))
	}
	x.resp = resp
	return x, nil
}

// shownURL is the URL, for errors.
func (x *exchange) shownURL() string { return safe.Shown(x.url) }

// close ends a stream.
func (x *exchange) close() {
	x.life.end() // first: a Read that is under way may hold the body's lock
	x.resp.Body.Close()
}

// notAgain is what an error that wraps ErrPossiblyDelivered says in addition; form has a
// %s. A subscription is made again, by the caller.
func (x *exchange) notAgain(form string) string {
	if x.op.delivery == deliverOneAttempt {
		return ""
	}
	return fmt.Sprintf(form, "it was possibly delivered, so it is not sent again")
}

// lossError returns the caller's error for err, a failure of the network: why no answer came, or,
// inAnswer, why it stopped short; and whether the request may have been delivered.
func (x *exchange) lossError(err error, inAnswer bool) error {
	if cause := context.Cause(x.ctx); errors.Is(cause, context.DeadlineExceeded) {
		err = cause // and not what it has made the network fail with
	}
	cause, cure := Explain(err)
	at, wrote, repeats := x.shownURL(), inAnswer || x.possiblyDelivered.Load(), x.op.delivery.repeatable()
	is, again, when := err, "", "before it answered"
	if wrote && !repeats {
		is, again = errors.Join(ErrPossiblyDelivered, err), x.notAgain(": %s")
	}
	if inAnswer {
		is, when = errors.Join(ErrInterrupted, is), "in the middle of its answer to"
	}
	switch gone := x.endedByUs(err, is, x.op.what); {
	case gone != nil:
		return gone
	case !wrote, cure == cureTLS:
		err = failf(errors.Join(ErrUnreachable, err), "%s: %s", at, strings.TrimSuffix(cause+": "+cure, ": "))
	case !inAnswer && x.ctx.Err() != nil:
		err = failf(is, "%s did not answer %s within %v: --timeout allows more", at, x.op.what, x.c.timeout)
	case !inAnswer && repeats:
		is = errors.Join(ErrInterrupted, err)
		fallthrough
	default:
		err = failf(is, "%s: %s %s %s%s", at, cause, when, x.op.what, again)
	}
	return x.c.ExplainLoss(x.ctx, err)
}

// endedByUs returns the error for an end that the network has not caused: a refusal of ours
// that is within err, a client that was closed, or a caller that gave up; nil for any
// other end. is is what it wraps besides; what names what has ended.
func (x *exchange) endedByUs(err, is error, what string) error {
	switch said, ok := errors.AsType[*failure](err); {
	case ok:
		return said
	case x.c.base.Err() != nil:
		return failf(errors.Join(ErrEnded, is), "%s: the client was closed", x.shownURL())
	case x.caller.Err() != nil:
		return failf(errors.Join(x.caller.Err(), is), "%s: %s was given up: %v", x.shownURL(), what, x.caller.Err())
	}
	return nil
}

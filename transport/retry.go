package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/a2astdio/a2astdio/internal/safe"
)

const (
	// maxRetries is how often a request is made again. The bridge itself waits longer
	// for a task that is under way; this is for a short failure of a proxy, or of an
	// agent that restarts.
	maxRetries = 2
	// retryWait is the first wait, doubled for each further one: together below
	// a second, because somebody is waiting.
	retryWait = 150 * time.Millisecond
	// maxRetryAfter is how long an agent may ask us to wait. If it asks for more, the
	// user is told at once.
	maxRetryAfter = 10 * time.Second
)

// A delivery says whether a request may be made again, and by whom.
type delivery uint8

const (
	// deliverAtMostOnce is that of messages, and of methods that we do not know: it is made again
	// only where the agent has surely not got it.
	deliverAtMostOnce delivery = iota
	// deliverOneAttempt is a subscription's: the caller repeats it, with waits of its own. The
	// answer has to begin within the time limit, since nothing is to be done for it.
	deliverOneAttempt
	// deliverRepeatable is for what is idempotent: it changes nothing, or nothing more when done twice.
	deliverRepeatable
	// deliverIfReached is that of the request for the card, or for a file. It is idempotent as well, but
	// not made again if the agent cannot be reached: before the first contact it is more likely that
	// the URL is wrong, which should be said at once, than that the agent comes back in a moment.
	deliverIfReached
)

// repeatable reports whether the request is idempotent.
func (d delivery) repeatable() bool { return d >= deliverRepeatable }

// newRetry makes the retrying client. Everything that could make a difference
// is said: the library's own policy repeats POSTs, its own error handler throws
// away the body of the last 5xx, and its own logger writes to stderr.
func newRetry(hc *http.Client, log *slog.Logger) *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient:   hc,
		RetryMax:     maxRetries,
		CheckRetry:   mayRepeat,
		Backoff:      retryablehttp.DefaultBackoff, // as long as it is told to, or twice as long each time
		RetryWaitMin: retryWait,
		RetryWaitMax: maxRetryAfter,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
		RequestLogHook: func(_ retryablehttp.Logger, req *http.Request, n int) { // the library's own lines would show a key that is in a URL
			log.Debug("agent: request", "url", safe.Shown(req.URL), "attempt", n+1)
		},
	}
}

// mayRepeat is retryablehttp's CheckRetry: whether to make the request again after an attempt. A 429
// that is repeated counts as not delivered.
func mayRepeat(ctx context.Context, resp *http.Response, err error) (bool, error) {
	x := exchangeOf(ctx)
	if x.op.delivery == deliverOneAttempt || ctx.Err() != nil {
		return false, nil
	}
	if err != nil {
		switch {
		case errors.As(err, new(*failure)), isOfTLS(err): // a refusal of ours: an origin, a redirect
			return false, nil
		case x.op.delivery == deliverIfReached:
			return x.possiblyDelivered.Load(), nil
		}
		return x.op.delivery.repeatable() || !x.possiblyDelivered.Load(), nil
	}
	wait, hasWait := retryAfter(resp)
	if wait > maxRetryAfter {
		return false, nil
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		// The agent says that it did nothing, and when it will: the request counts as
		// not sent.
		if x.op.delivery.repeatable() || hasWait {
			x.possiblyDelivered.Store(false)
			return true, nil
		}
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		// This may be a gateway's answer, so the agent may have got the message.
		return x.op.delivery.repeatable(), nil
	}
	return false, nil
}

// isOfTLS reports whether a certificate is not accepted, or one side alone speaks TLS: so it would be again.
func isOfTLS(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(tls.RecordHeaderError)) ||
		errors.Is(err, http.ErrSchemeMismatch)
}

// retryAfter reads the header of that name: seconds, or a date. has: there is one that can be read.
func retryAfter(resp *http.Response) (wait time.Duration, has bool) {
	value := resp.Header.Get("Retry-After")
	if value == "" { // as mostly: the errors of parsing it would cost more than all else here
		return 0, false
	}
	if n, err := strconv.ParseInt(value, 10, 32); err == nil && n >= 0 {
		return time.Duration(n) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at)), true
	}
	return 0, false
}

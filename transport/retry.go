package transport

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"
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

// A delivery says what of a request may be repeated.
type delivery uint8

const (
	// deliverOnce is that of messages, and of methods that we do not know.
	deliverOnce delivery = iota
	// deliverSingly is a subscription's: the caller repeats it, with waits of its own. The
	// answer has to begin within the time limit, since nothing is to be done for it.
	deliverSingly
	// deliverAgain is for what changes nothing, or changes nothing more when done twice.
	deliverAgain
	// deliverFirst is that of the request for the card, or for a file. It is repeated as well, but not if
	// the agent cannot be reached: before the first contact it is more likely that the URL
	// is wrong, which should be said at once, than that the agent comes back in a moment.
	deliverFirst
)

// repeats reports whether doing it twice does no harm.
func (d delivery) repeats() bool { return d >= deliverAgain }

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
			log.Debug("agent: request", "url", shown(req.URL), "attempt", n+1)
		},
	}
}

// mayRepeat decides after each attempt.
func mayRepeat(ctx context.Context, resp *http.Response, err error) (bool, error) {
	x := exchangeOf(ctx)
	if x.op.delivery == deliverSingly || ctx.Err() != nil {
		return false, nil
	}
	if err != nil {
		switch {
		case errors.As(err, new(*failure)): // a refusal of ours: an origin, a redirect
			return false, nil
		case x.op.delivery == deliverFirst:
			return x.begun.Load(), nil
		}
		return x.op.delivery.repeats() || !x.begun.Load(), nil
	}
	wait, told := retryAfter(resp)
	if wait > maxRetryAfter {
		return false, nil
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		// The agent says that it did nothing, and when it will: the request counts as
		// not sent.
		if x.op.delivery.repeats() || told {
			x.begun.Store(false)
			return true, nil
		}
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		// This may be a gateway's answer, so the agent may have got the message.
		return x.op.delivery.repeats(), nil
	}
	return false, nil
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(resp *http.Response) (wait time.Duration, told bool) {
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

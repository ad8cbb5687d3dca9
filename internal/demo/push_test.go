package demo

import (
	"net/http"
	"testing"
	"time"
)

// TestPushWait: a webhook may ask for a wait, of bounded length.
func TestPushWait(t *testing.T) {
	p := newPusher(&PushOptions{})
	for asked, want := range map[string]time.Duration{"": pushRetryWait, "2": 2 * time.Second, "86400": maxPushWait} {
		busy := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {asked}}}
		if got := p.Backoff(p.RetryWaitMin, p.RetryWaitMax, 0, busy); got != want {
			t.Errorf("asked for %q: %v", asked, got)
		}
	}
}

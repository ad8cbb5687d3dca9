package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

const (
	// maxPushConfigs bounds a task's webhooks: each has a goroutine.
	maxPushConfigs = 8
	// pushRetryWait is the wait before the first retry; each further one waits twice as
	// long, up to maxPushWait.
	pushRetryWait = 500 * time.Millisecond
	maxPushWait   = 10 * time.Second
)

// PushOptions tell how the agent pushes. The zero value is good.
type PushOptions struct {
	// Timeout bounds a webhook's answer; 0: nothing does.
	Timeout time.Duration
	// Retries is how often a refused push is repeated.
	Retries int
}

// newPusher returns the client that calls webhooks. Only this machine and public addresses
// are called: otherwise callers could use the agent to reach addresses that they cannot.
func newPusher(o *PushOptions) *retryablehttp.Client {
	if o == nil {
		return nil
	}
	p := retryablehttp.NewClient()
	p.Logger = nil
	p.RetryMax = o.Retries
	p.RetryWaitMin, p.RetryWaitMax = pushRetryWait, maxPushWait
	p.Backoff = func(least, most time.Duration, n int, resp *http.Response) time.Duration {
		return min(retryablehttp.DefaultBackoff(least, most, n, resp), most) // whatever the webhook asks for
	}
	dialer := &net.Dialer{Control: refusePrivate}
	p.HTTPClient = &http.Client{Timeout: o.Timeout, Transport: &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return p
}

// refusePrivate checks the address of the connection, whatever the name resolved to
// before.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if ip := at.Addr().Unmap(); !ip.IsLoopback() && (!ip.IsGlobalUnicast() || ip.IsPrivate()) {
		return fmt.Errorf("%v is a private address", ip)
	}
	return nil
}

// A pushConfig is a webhook of a task. Its goroutine reads the task's log like a
// stream. It ends when the webhook is deleted, the task is forgotten, or the agent is
// closed.
type pushConfig struct {
	id, url, token, scheme, credentials string

	wire wire
	stop context.CancelFunc
}

// check tells what is wrong with a configuration.
func (c *pushConfig) check() error {
	u, err := url.Parse(c.url)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return invalidParams("the webhook's url %q is no http or https URL", c.url)
	case u.User != nil || u.Fragment != "":
		return invalidParams("the webhook's url has credentials or a fragment")
	case strings.ContainsAny(c.token+c.scheme+c.credentials, "\r\n"):
		return invalidParams("the webhook's token or authentication has a line break")
	case c.scheme == "" && c.credentials != "":
		return invalidParams("the webhook's authentication has credentials and no scheme")
	}
	return nil
}

// pushTo begins to push a task's events from now on or, for a new task, from its
// beginning. It replaces a configuration of the same ID.
func (a *Agent) pushTo(t *task, c *pushConfig, from int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.id == "" {
		for n := len(t.pushes) + 1; c.id == "" || t.pushConfig(c.id) != nil; n++ {
			c.id = strconv.Itoa(n)
		}
	}
	old := t.pushConfig(c.id)
	if old == nil && len(t.pushes) >= maxPushConfigs {
		return invalidParams("task %s has %d webhooks, which is the limit", t.id, maxPushConfigs)
	}
	ctx, stop := context.WithCancel(t.life)
	c.stop = stop
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		stop()
		return &rpcError{Code: codeInternal, Message: "the agent is closed"}
	}
	if old != nil {
		old.stop()
		t.pushes = slices.DeleteFunc(t.pushes, func(p *pushConfig) bool { return p == old })
	}
	t.pushes = append(t.pushes, c)
	a.wg.Go(func() { a.push(ctx, t, c, from) }) // ends as the type says
	return nil
}

// pushConfig returns a task's configuration. The caller holds mu.
func (t *task) pushConfig(id string) *pushConfig {
	for _, c := range t.pushes {
		if c.id == id {
			return c
		}
	}
	return nil
}

// push posts each event of a task. It skips an event that the webhook refuses after all
// retries: the client can fetch the task.
func (a *Agent) push(ctx context.Context, t *task, c *pushConfig, from int) {
	for {
		events, err := t.wait(ctx, a.ctx, from)
		if err != nil {
			return
		}
		for _, e := range events {
			from++
			var body bytes.Buffer
			what, contentType := c.wire.pushed(t, e)
			if writeJSON(&body, what) == nil {
				a.deliver(ctx, c, contentType, body.Bytes())
			}
		}
	}
}

// deliver posts one event.
func (a *Agent) deliver(ctx context.Context, c *pushConfig, contentType string, body []byte) {
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, c.url, body)
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", contentType)
	if c.token != "" {
		req.Header.Set("X-A2A-Notification-Token", c.token)
	}
	if c.scheme != "" {
		req.Header.Set("Authorization", c.scheme+" "+c.credentials)
	}
	resp, err := a.pusher.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // so that the connection can be reused
}

// pushMethod serves the four methods for push notification configurations.
func (a *Agent) pushMethod(req *request) (any, error) {
	if a.pusher == nil {
		return nil, &rpcError{Code: codePushNotSupported, Message: "push notifications are not supported"}
	}
	p, err := req.wire.pushParams(req.method, req.params)
	if err != nil {
		return nil, invalidParams("%v", err)
	}
	t := a.task(p.taskID)
	if t == nil {
		return nil, notFound(p.taskID)
	}
	verb := req.method[strings.LastIndexByte(req.method, '/')+1:]
	if verb == "set" {
		return a.setPush(t, p.config, req.wire)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.pushConfig(p.id)
	if p.id == "" && len(t.pushes) == 1 {
		c = t.pushes[0] // 0.3: the task's only one
	}
	switch {
	case verb == "list":
		list := []any{}
		for _, c := range t.pushes {
			list = append(list, req.wire.pushConfig(t.id, c))
		}
		if req.wire.v1 {
			return map[string]any{"configs": list}, nil
		}
		return list, nil
	case verb == "get" && c == nil:
		return nil, notFound(p.taskID + ", push notification configuration " + p.id)
	case verb == "get":
		return req.wire.pushConfig(t.id, c), nil
	case c != nil: // deleting a missing one is no error
		c.stop()
		t.pushes = slices.DeleteFunc(t.pushes, func(p *pushConfig) bool { return p == c })
	}
	if req.wire.v1 {
		return struct{}{}, nil
	}
	return json.RawMessage("null"), nil
}

// setPush begins to push to a webhook what is still to come.
func (a *Agent) setPush(t *task, c *pushConfig, w wire) (any, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.wire = w
	t.mu.Lock()
	from := len(t.log)
	t.mu.Unlock()
	err := a.pushTo(t, c, from) // which gives it an ID
	return w.pushConfig(t.id, c), err
}

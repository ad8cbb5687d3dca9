package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// maxCard is how large a card may be. The largest that was seen has 30 kB.
	maxCard = 4 << 20

	// The well-known paths: of 0.3 and 1.x, and of 0.2, which some agents that
	// are no longer changed still serve alone.
	cardPath    = "/.well-known/agent-card.json"
	oldCardPath = "/.well-known/agent.json"
)

// A cardSource is where the card comes from: one of the two is set, as soon as
// it is known.
type cardSource struct {
	url  *url.URL
	file string
}

// An endpoint is what is known of an agent from its card.
type endpoint struct {
	card *a2a.Card
	// etag and from are for asking whether the card is still the same.
	etag string
	from *url.URL
	// The rest is how to call it; err says why that is not possible. The card
	// can be looked at all the same.
	url      *url.URL
	protocol protocol
	streams  bool
	err      error
}

// A cardFlight is a fetch that several callers may wait for.
type cardFlight struct {
	done  chan struct{}
	known *endpoint
	err   error
}

// Card returns the agent's card. It is fetched once; callers that come
// meanwhile share the fetch, which goes on even if they give up. A fetch that
// failed is not remembered. The card is shared: it must not be changed.
func (c *Client) Card(ctx context.Context) (*a2a.Card, error) {
	e, err := c.endpoint(ctx, false)
	if err != nil {
		return nil, err
	}
	return e.card, nil
}

// Refresh asks the agent whether its card has changed, and returns the one that
// holds from now on.
func (c *Client) Refresh(ctx context.Context) (*a2a.Card, error) {
	e, err := c.endpoint(ctx, true)
	if err != nil {
		return nil, err
	}
	return e.card, nil
}

// connect returns how to call the agent.
func (c *Client) connect(ctx context.Context) (*endpoint, error) {
	e, err := c.endpoint(ctx, false)
	if err != nil {
		return nil, err
	}
	return e, e.err
}

func (c *Client) endpoint(ctx context.Context, anew bool) (*endpoint, error) {
	if err := c.ended(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, failf(ErrEnded, "the client was closed")
	}
	if c.known != nil && !anew {
		defer c.mu.Unlock()
		return c.known, nil
	}
	f := c.flight
	if f == nil {
		f = &cardFlight{done: make(chan struct{})}
		c.flight = f
		known := c.known
		// It ends with the time limit of a unary call, which begins when the agent
		// is resolved, or with Close. It does not run in the first caller's
		// goroutine, because that one may give up.
		c.wg.Go(func() {
			f.known, f.err = c.loadCard(known)
			c.mu.Lock()
			if f.err == nil {
				c.known = f.known
			}
			c.flight = nil
			c.mu.Unlock()
			close(f.done)
		})
	}
	c.mu.Unlock()
	select {
	case <-f.done:
		return f.known, f.err
	case <-ctx.Done():
		return nil, failf(ctx.Err(), "waiting for the card was given up: %v", ctx.Err())
	}
}

// loadCard gets the card from where it is. known is what there is so far.
func (c *Client) loadCard(known *endpoint) (*endpoint, error) {
	if err := c.resolve(); err != nil {
		return nil, err
	}
	if c.source.file != "" {
		return c.readCardFile()
	}
	ctx, cancel := context.WithTimeout(c.base, c.timeout)
	defer cancel()
	if known != nil {
		e, _, err := c.fetchCard(ctx, known.from, known)
		return e, err
	}
	var first error
	for _, u := range cardURLs(c.source.url) {
		e, missing, err := c.fetchCard(ctx, u, nil)
		switch {
		case err == nil && belongs(e, c.source.url, u):
			return e, nil
		case err == nil:
			continue
		case !missing:
			return nil, err
		case first == nil:
			first = err
		}
	}
	var status *a2a.Error
	if strings.HasSuffix(c.source.url.Path, ".json") || !errors.As(first, &status) {
		return nil, first
	}
	return nil, failf(first, "%s has no card (%d at %s and %s): is --agent the agent's URL, without a path of its API?",
		shown(c.source.url), status.HTTPStatus, cardPath, path.Base(oldCardPath))
}

// cardURLs lists where the card of an agent may be. If its URL has a path, the
// card may be below that (agents that share a host) or at the root (the URL is
// the one that its card names).
func cardURLs(agent *url.URL) []*url.URL {
	if strings.HasSuffix(agent.Path, ".json") {
		return []*url.URL{agent}
	}
	at := func(base, card string) *url.URL {
		u := *agent
		u.Path, u.RawPath = strings.TrimRight(base, "/")+card, ""
		return &u
	}
	urls := []*url.URL{at(agent.Path, cardPath), at(agent.Path, oldCardPath)}
	if strings.Trim(agent.Path, "/") != "" {
		urls = append(urls, at("", cardPath), at("", oldCardPath))
	}
	return urls
}

// belongs reports whether a card that was found at the root of the host is that
// of the agent whose URL has a path: it names that URL. Otherwise it may be some
// other agent's.
func belongs(e *endpoint, agent, from *url.URL) bool {
	if strings.HasSuffix(agent.Path, ".json") || strings.HasPrefix(from.Path, strings.TrimRight(agent.Path, "/")+"/.well-known/") {
		return true
	}
	for _, i := range e.card.Interfaces {
		u, err := url.Parse(i.URL)
		if err == nil && originOf(u) == originOf(agent) && strings.TrimRight(u.Path, "/") == strings.TrimRight(agent.Path, "/") {
			return true
		}
	}
	return false
}

// fetchCard gets the card from one place. missing: it is not there, and may be
// elsewhere.
func (c *Client) fetchCard(ctx context.Context, u *url.URL, known *endpoint) (e *endpoint, missing bool, err error) {
	header := http.Header{"Accept": {acceptJSON}}
	if known != nil && known.etag != "" {
		header.Set("If-None-Match", known.etag)
	}
	x, err := c.do(ctx, ctx, opCard, http.MethodGet, "the request for its card", u, header, nil)
	if err != nil {
		if ctx.Err() == context.DeadlineExceeded {
			err = failf(err, "%s did not answer within %v: --timeout allows more", shown(u), c.timeout)
		}
		return nil, false, err
	}
	if x.resp.StatusCode == http.StatusNotModified && known != nil {
		x.resp.Body.Close()
		return known, false, nil
	}
	defer x.resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(x.resp.Body, maxCard+1))
	switch {
	case err != nil:
		return nil, false, x.cut(err)
	case len(b) > maxCard:
		return nil, false, failf(nil, "the card at %s is larger than %d MiB", shown(u), maxCard>>20)
	}
	b = repairText(bytes.TrimSpace(b))
	if status := x.resp.StatusCode; status >= 300 {
		missing = status >= 400 && status < 500 && status != http.StatusUnauthorized &&
			status != http.StatusForbidden && status != http.StatusTooManyRequests
		return nil, missing, x.notRPC(b)
	}
	if len(b) == 0 || b[0] != '{' || !validJSON(b) {
		// Web servers answer any path with their page.
		return nil, true, x.notRPC(b)
	}
	e = c.newEndpoint(b, x.resp.Request.URL)
	e.from, e.etag = u, x.resp.Header.Get("ETag")
	return e, false, nil
}

func (c *Client) readCardFile() (*endpoint, error) {
	b, err := os.ReadFile(c.source.file)
	if err != nil {
		return nil, failf(err, "the card cannot be read: %v", err)
	}
	b = repairText(bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\uFEFF"))))
	if len(b) == 0 || b[0] != '{' || !validJSON(b) {
		return nil, failf(nil, "%s is no card: it is not a JSON object", c.source.file)
	}
	return c.newEndpoint(b, nil), nil
}

// newEndpoint reads a card and decides how the agent is called. from is where
// the card was, nil for a file.
func (c *Client) newEndpoint(raw []byte, from *url.URL) *endpoint {
	card := parseCard(rawjson.View(raw), from)
	e := &endpoint{card: card, streams: !saysNoStreaming(card)}
	i, p, err := choose(card, c.opts.Version)
	if err != nil {
		e.err = err
		return e
	}
	u, err := url.Parse(i.URL)
	if err != nil || u.Host == "" {
		e.err = failf(nil, "the card of %s names a URL that is none: %q", cardName(card), redactString(i.URL))
		return e
	}
	if from == nil {
		c.origins.own.Store(u)
	}
	if e.err = c.origins.check(u, "its card leads to"); e.err == nil {
		e.url, e.protocol = c.origins.sameSpelling(u), p
	}
	return e
}

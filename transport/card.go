package transport

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// The well-known paths: that of 0.3 and 1.x, and that of 0.2, the only one that
	// some old agents serve.
	cardPath    = "/.well-known/agent-card.json"
	oldCardPath = "/.well-known/agent.json"
	// cardOperation is 0.3's operation for the extended card. Some hosts of agents have
	// the card only there.
	cardOperation = "/v1/card"
)

// A location is a URL or a file, as the user names an agent or a card. The zero value: not known.
type location struct {
	url  *url.URL
	file string
}

// An endpoint is what is known of an agent from its card.
type endpoint struct {
	card *a2a.Card
	// doubt is what may be wrong if nothing is where the agent is called: its card does not
	// say where that is, or names the host only, and the user has said it.
	doubt string
	// from is where the card was found, nil for a file.
	from *url.URL
	// err says why the agent cannot be called. The card can be shown all the same.
	err error
	// public is the endpoint of the public card, nil unless this one is of the extended card.
	public *endpoint
	// run is that of the agent's process in which it was found (see [Client.Exited]), agentURL the
	// user's URL then; nil for a file.
	run      <-chan struct{}
	agentURL *url.URL

	mu  sync.Mutex // of what follows
	ops [opExtendedCard + 1]support
	// way is how the agent is called; proven: it has answered in that version.
	way    way
	proven bool
}

// A cardFetch is a fetch that several callers may wait for.
type cardFetch struct {
	done     chan struct{}
	endpoint *endpoint
	err      error
}

// Card returns the agent's card. It is fetched once; callers that come
// meanwhile share the fetch, which goes on even if they give up. A fetch that
// failed is not remembered. The card is shared: it must not be changed.
//
// It is the extended card where the agent has one for who we are, and lets us see
// it: see [a2a.Card.Extended].
func (c *Client) Card(ctx context.Context) (*a2a.Card, error) {
	e, err := c.endpoint(ctx)
	if err != nil {
		return nil, err
	}
	return e.card, nil
}

// connect returns the endpoint, or the error that says why the agent cannot be called.
func (c *Client) connect(ctx context.Context) (*endpoint, error) {
	e, err := c.endpoint(ctx)
	if err != nil {
		return nil, err
	}
	return e, e.err
}

// endpoint returns what is known of the agent, also of one that cannot be called. The first call
// in each run of its process fetches the card.
func (c *Client) endpoint(ctx context.Context) (*endpoint, error) {
	if err := c.checkExited(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	if c.base.Err() != nil {
		c.mu.Unlock()
		return nil, failf(ErrEnded, "the client was closed")
	}
	run := c.Exited()
	if c.current != nil && c.current.run != run {
		c.current = nil // the agent was started again, and may have another URL
	}
	if c.current != nil {
		defer c.mu.Unlock()
		return c.current, nil
	}
	f := c.fetching
	if f == nil {
		f = &cardFetch{done: make(chan struct{})}
		c.fetching = f
		// It ends with the time limit of a unary call, which begins when the agent
		// is resolved, or with Close. It does not run in the first caller's
		// goroutine, because that one may give up.
		c.wg.Go(func() {
			c.loading.Lock() // there is one fetch at a time, also after ForgetCard
			f.endpoint, f.err = c.loadCards()
			c.loading.Unlock()
			c.mu.Lock()
			if c.fetching == f { // ForgetCard has not come between
				if f.err == nil {
					f.endpoint.run = run
					c.current = f.endpoint
				}
				c.fetching = nil
			}
			c.mu.Unlock()
			close(f.done)
		})
	}
	c.mu.Unlock()
	select {
	case <-f.done:
		return f.endpoint, f.err
	case <-ctx.Done():
		return nil, failf(ctx.Err(), "waiting for the card was given up: %v", ctx.Err())
	}
}

// loadCards gets the agent's card. Where that says that there is an extended one, and
// we have credentials to show, it gets that and uses it from then on. If the extended
// card cannot be had, the public one is used: that is no error.
func (c *Client) loadCards() (*endpoint, error) {
	e, err := c.loadCard()
	if err != nil {
		return nil, err
	}
	if e.card.Raw != "" {
		c.guard.card.Store(e.card)
	}
	ctx, cancel := context.WithTimeout(c.base, c.timeout)
	defer cancel()
	if e.err != nil || !e.card.ExtendedCard || !c.hasCredentials(ctx, e) {
		return e, nil
	}
	x, err := c.fetchExtended(ctx, e)
	switch {
	case err == nil:
		c.guard.card.Store(x.card)
		return x, nil
	case a2a.ErrorOf(err) != nil:
		c.opts.Log.Debug("agent: the extended card cannot be had", "err", err)
	default:
		c.opts.Log.Warn("agent: the extended card is not used, but the public one: " + strings.TrimPrefix(err.Error(), "agent: "))
	}
	return e, nil
}

// loadCard gets the card from where it is.
func (c *Client) loadCard() (*endpoint, error) {
	if err := c.resolve(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.base, c.timeout)
	defer cancel()
	switch at := cmp.Or(c.cardAt, c.agentAt); {
	case at.file != "":
		b, err := os.ReadFile(at.file)
		if err != nil {
			return nil, failf(err, "the card cannot be read: %v", err)
		}
		if b = cardText(b); b == nil {
			return nil, failf(nil, "%s is no card: it is not a JSON object", at.file)
		}
		return c.newEndpoint(ctx, b, c.agentAt.url)
	case at == c.cardAt:
		e, _, err := c.fetchCard(ctx, at.url)
		return e, err
	default:
		return c.findCard(ctx, at.url)
	}
}

// findCard gets the card of the agent at a URL from where agents have them. One that may be another
// agent's is used only if it names no other URL.
func (c *Client) findCard(ctx context.Context, agent *url.URL) (*endpoint, error) {
	var first error
	var other *endpoint // a card at the origin that names another URL, or an object that names none
	for _, u := range cardURLs(agent) {
		e, missing, err := c.fetchCard(ctx, u)
		switch {
		case err == nil && isCardOf(e, agent, u):
			return e, nil
		case err == nil:
			if other == nil || len(e.card.Interfaces) > 0 {
				other = e
			}
		case !missing:
			return c.endpointWithoutCard(err)
		case first == nil:
			first = err
		}
	}
	if other != nil && (len(other.card.Interfaces) == 0 || other.doubt != "" || c.placeAtUserURL(other)) {
		return other, nil
	}
	status := a2a.ErrorOf(first)
	switch {
	case other != nil: // without a status an object is at each place
		first = failf(cmp.Or(first, error(&a2a.Error{HTTPStatus: http.StatusOK})), "%s has no card, and %s", safe.Shown(agent), otherURLNote(other.card, agent))
	case status != nil && !isCardURL(agent):
		first = failf(first, "%s has no card (%d at %s and %s): is --agent the agent's URL, without a path of its API? "+
			"If the card is elsewhere, --card says where; without one, --binding and --a2a-version say how to call it",
			safe.Shown(agent), status.HTTPStatus, cardPath, path.Base(oldCardPath))
	}
	return c.endpointWithoutCard(first)
}

// fetchCard gets the card from one URL. missing: no card is there, and another URL is worth a try;
// err says so then, too.
func (c *Client) fetchCard(ctx context.Context, u *url.URL) (e *endpoint, missing bool, err error) {
	header := http.Header{"Accept": {acceptJSON}}
	if c.opts.CheckCard != nil {
		protocol{}.header(header)
	}
	op := &operation{effective: opExtendedCard, delivery: deliverIfReached, anonymous: c.opts.BareCard,
		what: "the request for its card"}
	if u == c.cardAt.url && c.origins.check(u, "") != nil {
		// The user has placed it elsewhere. Credentials are for the agent, as is a certificate.
		if hasCertificate(c.opts.TLS) {
			return nil, false, failf(nil, "%s is another origin than the agent's, and is not shown your certificate: save the card as a file, and give that", safe.Shown(u))
		}
		op.anonymous, op.origins = true, &origins{}
		op.origins.own.Store(u)
	}
	x, err := c.send(ctx, ctx, op, http.MethodGet, u, header, nil)
	if err != nil {
		if ctx.Err() == context.DeadlineExceeded {
			err = failf(err, "%s did not answer within %v: --timeout allows more", safe.Shown(u), c.timeout)
		}
		return nil, false, err
	}
	b, err := x.body()
	if err != nil {
		return nil, false, err
	}
	card := cardText(b)
	switch status := x.resp.StatusCode; {
	case status == http.StatusNotFound:
		return nil, true, failf(&a2a.Error{HTTPStatus: status},
			"no card is at %s (404): most agents have it at their own URL with %s behind it", safe.Shown(u), cardPath)
	case c.opts.BareCard && (status == http.StatusUnauthorized || status == http.StatusForbidden):
		return nil, false, failf(x.notA2A(b), "%s shows its card to callers that it knows, and no credentials are sent before a card is checked: "+
			"save the card as a file, and give that", safe.Shown(u))
	case status >= 300:
		return nil, status < 500 && x.advice() == "" && !x.wantsTLS(b), x.notA2A(b)
	case card == nil: // web servers answer any path with their page
		return nil, true, x.notA2A(b)
	}
	if e, err = c.newEndpoint(ctx, card, x.resp.Request.URL); err != nil {
		return nil, false, err
	}
	e = c.placeWithoutURL(e)
	e.from = u
	return e, false, nil
}

// cardText takes off what may be around a card; nil if it is no JSON object.
func cardText(b []byte) []byte {
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\uFEFF")))
	if !rawjson.IsObject(rawjson.View(b)) || !rawjson.Valid(b) {
		return nil
	}
	return b
}

// newEndpoint has a card checked as it came ([ClientOptions.CheckCard]), reads it, and decides how the
// agent is called. base is where the card was, or, for a file, the agent's URL; nil if that is not known.
func (c *Client) newEndpoint(ctx context.Context, raw []byte, base *url.URL) (*endpoint, error) {
	if c.opts.CheckCard != nil {
		checked, err := c.opts.CheckCard(ctx, raw)
		if err != nil {
			return nil, failf(err, "%v", err)
		}
		raw = checked
	}
	card := parseCard(rawjson.View(repairText(raw)), base)
	if i, ok := c.userInterface(); ok && len(card.Interfaces) == 0 {
		card.Interfaces = []a2a.Interface{i}
	}
	return c.endpointOf(card), nil
}

// endpointOf decides how the agent of a card is called; why it cannot be is the endpoint's err.
func (c *Client) endpointOf(card *a2a.Card) *endpoint {
	e := &endpoint{card: card, agentURL: c.agentAt.url}
	e.way, e.err = c.wayOf(e, wish{c.opts.Version, c.opts.Binding})
	return e
}

package transport

import (
	"bytes"
	"context"
	"slices"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// fetchExtended gets the extended card of the agent whose public one e has, and has it checked as
// that was. It was sent to somebody with credentials, so it may not move them to another origin,
// not even to a trusted one.
func (c *Client) fetchExtended(ctx context.Context, e *endpoint) (*endpoint, error) {
	op := newOperation(opExtendedCard)
	active := c.active()
	for _, x := range e.card.Extensions { // an agent may refuse any request without
		if x.Required && printable(x.URI) && !slices.Contains(active, x.URI) {
			op.activate = append(op.activate, x.URI)
		}
	}
	s, err := c.ask(ctx, e, []way{e.currentWay()}, op, nil)
	if err != nil {
		return nil, err
	}
	if !rawjson.IsObject(rawjson.View(s.result)) {
		return nil, s.wrongResult("card")
	}
	from := e.from
	if from == nil || c.cardAt != (location{}) { // where the user has put a card, no other is
		from = e.currentWay().url
	}
	x, err := c.newEndpoint(ctx, bytes.Clone(s.result), from) // a copy: the public card's JSON is kept as well
	switch {
	case err != nil:
		return nil, err
	case x.err != nil:
		return nil, x.err
	case safe.Origin(x.way.url) != safe.Origin(e.currentWay().url):
		return nil, failf(nil, "the extended card leads to another origin, %s, where your credentials are not sent", safe.Shown(x.way.url))
	}
	x.public, x.card.Extended = e, true
	return x, nil
}

// Extended returns the card that the agent shows to those that it knows. [Client.Card]
// returns the same where it can be had, and else the public one; Extended returns an
// error.
func (c *Client) Extended(ctx context.Context) (*a2a.Card, error) {
	e, err := c.connect(ctx)
	switch {
	case err != nil:
		return nil, err
	case e.public != nil:
		return e.card, nil
	case !e.card.ExtendedCard:
		return nil, failf(nil, "the card of %s does not say that there is an extended one", cardName(e.card))
	}
	c.loading.Lock() // a fetch of the public card may set where the agent is now, and cards are checked one at a time
	defer c.loading.Unlock()
	x, err := c.fetchExtended(ctx, e)
	if err != nil {
		return nil, err
	}
	return x.card, nil
}

// hasCredentials reports whether a request tells the agent who is asking.
func (c *Client) hasCredentials(ctx context.Context, e *endpoint) bool {
	if len(*c.guard.header.Load()) > 0 || hasCertificate(c.opts.TLS) {
		return true
	}
	if c.opts.Credentials == nil {
		return false
	}
	cred, err := c.opts.Credentials(ctx, &Challenge{URL: e.currentWay().url, Card: e.card})
	return err == nil && cred != nil
}

// PublicCard returns the card that the agent shows to everybody, where
// [Client.Card] may return the extended one.
func (c *Client) PublicCard(ctx context.Context) (*a2a.Card, error) {
	e, err := c.endpoint(ctx)
	if err != nil {
		return nil, err
	}
	if e.public != nil {
		e = e.public
	}
	return e.card, nil
}

// ForgetCard has the card fetched anew by the next call that needs it. It is for a
// caller whose credentials have changed.
func (c *Client) ForgetCard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current, c.fetching = nil, nil
}

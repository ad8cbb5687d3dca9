package transport

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for an agent that has no card where it was looked for.

// cardSays names the agent of a card, and its URL.
func cardSays(card *a2a.Card) string {
	if len(card.Interfaces) == 0 {
		return cardName(card)
	}
	u, err := url.Parse(card.Interfaces[0].URL)
	if err != nil || u.Host == "" {
		return cardName(card)
	}
	return cardName(card) + ", at " + shown(u)
}

// withoutCard does without a card, if the user has said how the agent is called. A card
// that we may not see counts as none; any other failure may be temporary, and is
// returned.
func (c *Client) withoutCard(err error) (*endpoint, error) {
	var status *a2a.Error
	refused := errors.As(err, &status) && status.HTTPStatus < http.StatusInternalServerError && status.HTTPStatus != http.StatusTooManyRequests
	i, ok := c.bareInterface()
	if !ok || err != nil && !refused || c.opts.BareCard { // CheckCard has to allow one
		return nil, err
	}
	return c.endpointOf(&a2a.Card{Interfaces: []a2a.Interface{i}}), nil
}

// bareInterface is the URL of --agent as an interface, where it is the agent's own
// and the user has said how it is called.
func (c *Client) bareInterface() (i a2a.Interface, ok bool) {
	for _, b := range bindings() {
		if b.option == c.opts.Binding && c.opts.Version != "" && c.source.url != nil && !isCardURL(c.source.url) {
			return a2a.Interface{URL: c.source.url.String(), Binding: b.name, Version: c.opts.Version}, true
		}
	}
	return a2a.Interface{}, false
}

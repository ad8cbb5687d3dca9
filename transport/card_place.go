package transport

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for cards that are not where they were looked for, or do not say where the
// agent is.

// isCardURL reports whether a URL looks like that of a card: a document, or the
// operation of 0.3 that returns the card, where some hosts alone have it.
func isCardURL(u *url.URL) bool {
	return strings.HasSuffix(u.Path, ".json") || strings.HasSuffix(u.Path, cardOperation)
}

// cardURLs lists where the card of an agent may be. If its URL has a path, the
// card may be below that (agents that share a host) or at the root (the URL is
// the one that its card names).
func cardURLs(agent *url.URL) []*url.URL {
	if isCardURL(agent) {
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
	return append(urls, at(agent.Path, cardOperation))
}

// atUser reports whether a card at the root of the host names the host alone, without a path.
// The user's URL, which has one, is where it is called then: a card that is so vague need not
// be another agent's.
func (c *Client) atUser(e *endpoint) bool {
	if e.err != nil || strings.Trim(e.way.url.Path, "/") != "" {
		return false
	}
	u := c.userURL(e.way)
	if u != nil {
		e.way.url, e.way.why, e.doubt = u, "its card names its host only, and --agent the place", ofOtherURL(e.card, u)
	}
	return u != nil
}

// placed calls the agent of a card that names no URL where --agent is, or below that at the
// usual path: PromptKit's examples have such cards. The binding is the user's, else the card's.
// An object that is no card for the rest is left as it is.
func (c *Client) placed(e *endpoint) *endpoint {
	n := node{gjson.Parse(string(e.card.Raw))}
	if len(e.card.Interfaces) > 0 || c.source.url == nil || isCardURL(c.source.url) || !n.at("capabilities").IsObject() && !n.at("skills").IsArray() {
		return e
	}
	e.card.Interfaces = interfaces(n, nil, c.source.url.String())
	if kind, ok := bindingOf(c.opts.Binding); ok {
		for i := range e.card.Interfaces {
			e.card.Interfaces[i].Binding = kind.name
		}
	}
	e = c.endpointOf(e.card)
	e.doubt = fmt.Sprintf("the card of %s names no URL: is the agent at another one than --agent?", cardName(e.card))
	e.way.why = "its card names no URL, and --agent the place"
	return e
}

// belongs reports whether a card that was found at the root of the host is that
// of the agent whose URL has a path: it names that URL. Otherwise it may be some
// other agent's. What names no URL is no card: some servers answer any path with an object.
func belongs(e *endpoint, agent, from *url.URL) bool {
	below := strings.TrimRight(agent.Path, "/")
	switch {
	case len(e.card.Interfaces) == 0:
		return false
	case isCardURL(agent), strings.HasPrefix(from.Path, below+"/.well-known/"), from.Path == below+cardOperation:
		return true
	case e.doubt != "":
		return false
	}
	for _, i := range e.card.Interfaces {
		u, err := url.Parse(i.URL)
		if err == nil && safe.Origin(u) == safe.Origin(agent) && strings.TrimRight(u.Path, "/") == strings.TrimRight(agent.Path, "/") {
			return true
		}
	}
	return false
}

// ofOtherURL says that a card was found for the origin of a URL, and names another one.
func ofOtherURL(card *a2a.Card, u *url.URL) string {
	return fmt.Sprintf("the card of its origin is that of another URL: %s, at %s. If that is the agent, take --agent %s://%s",
		cardName(card), redactString(card.Interfaces[0].URL), u.Scheme, u.Host)
}

// withoutCard does without a card, if the user has said how the agent is called. A card
// that we may not see counts as none; any other failure may be temporary, and is
// returned.
func (c *Client) withoutCard(err error) (*endpoint, error) {
	var status *a2a.Error
	refused := errors.As(err, &status) && status.HTTPStatus < http.StatusInternalServerError && status.HTTPStatus != http.StatusTooManyRequests
	i, ok := c.bareInterface()
	if !ok || !refused || c.opts.BareCard { // CheckCard has to allow one
		return nil, err
	}
	return c.endpointOf(&a2a.Card{Interfaces: []a2a.Interface{i}}), nil
}

// bareInterface is the URL of --agent as an interface, where it is the agent's own
// and the user has said how it is called.
func (c *Client) bareInterface() (i a2a.Interface, ok bool) {
	kind, ok := bindingOf(c.opts.Binding)
	if !ok || c.opts.Version == "" || c.source.url == nil || isCardURL(c.source.url) {
		return a2a.Interface{}, false
	}
	return a2a.Interface{URL: c.source.url.String(), Binding: kind.name, Version: c.opts.Version}, true
}

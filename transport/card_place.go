package transport

import (
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

// cardURLs lists where the card of an agent may be, the likeliest first. If the agent's URL has a
// path, the card may be below that (agents that share a host) or at the root (the URL is the one
// that its card names).
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

// placeAtUserURL has the agent called at the user's URL, which has a path, if its card, at the root of
// the host, names the host alone: a card that is so vague need not be another agent's. It reports
// whether it has.
func (c *Client) placeAtUserURL(e *endpoint) bool {
	if e.err != nil || strings.Trim(e.way.url.Path, "/") != "" {
		return false
	}
	u := c.userURL(e, e.way)
	if u != nil {
		e.way.url, e.way.why, e.doubt = u, "its card names its host only, and --agent the place", otherURLNote(e.card, u)
	}
	return u != nil
}

// placeWithoutURL returns a new endpoint for a card that names no URL: the agent is called where
// --agent is, or below that at [usualPath]. PromptKit's examples have such cards. The binding is the
// user's, else the card's. A card that names a URL, and an object that is no card, keep theirs.
func (c *Client) placeWithoutURL(e *endpoint) *endpoint {
	n := node{gjson.Parse(string(e.card.Raw))}
	if len(e.card.Interfaces) > 0 || c.agentAt.url == nil || isCardURL(c.agentAt.url) ||
		!n.at("capabilities").IsObject() && !n.at("skills").IsArray() {
		return e
	}
	e.card.Interfaces = interfaces(n, nil, c.agentAt.url.String())
	if b, ok := bindingOf(c.opts.Binding); ok {
		for i := range e.card.Interfaces {
			e.card.Interfaces[i].Binding = b.name
		}
	}
	e = c.endpointOf(e.card)
	e.doubt = fmt.Sprintf("the card of %s names no URL: is the agent at another one than --agent?", cardName(e.card))
	e.way.why = "its card names no URL, and --agent the place"
	return e
}

// isCardOf reports whether a card that was found at from is that of the agent. One at the root of the
// host, where the agent's URL has a path, must name that URL: it may be some other agent's. What
// names no URL is no card: some servers answer any path with an object.
func isCardOf(e *endpoint, agent, from *url.URL) bool {
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

// otherURLNote says that the card at the origin of u, which names an interface, names another URL.
func otherURLNote(card *a2a.Card, u *url.URL) string {
	return fmt.Sprintf("the card of its origin is that of another URL: %s, at %s. If that is the agent, take --agent %s://%s",
		cardName(card), redactString(card.Interfaces[0].URL), u.Scheme, u.Host)
}

// endpointWithoutCard does without a card, if the user has said how the agent is called, and err
// says that there is none, or that we may not see it. Else it returns err: the failure may be
// temporary.
func (c *Client) endpointWithoutCard(err error) (*endpoint, error) {
	status := a2a.ErrorOf(err)
	refused := status != nil && status.HTTPStatus < http.StatusInternalServerError && status.HTTPStatus != http.StatusTooManyRequests
	i, ok := c.userInterface()
	if !ok || !refused || c.opts.BareCard { // CheckCard has to allow one
		return nil, err
	}
	return c.endpointOf(&a2a.Card{Interfaces: []a2a.Interface{i}}), nil
}

// userInterface returns the URL of --agent as an interface; false if it is a card's, or the user has
// not said how the agent is called.
func (c *Client) userInterface() (i a2a.Interface, ok bool) {
	b, ok := bindingOf(c.opts.Binding)
	if !ok || c.opts.Version == "" || c.agentAt.url == nil || isCardURL(c.agentAt.url) {
		return a2a.Interface{}, false
	}
	return a2a.Interface{URL: c.agentAt.url.String(), Binding: b.name, Version: c.opts.Version}, true
}

package transport

import (
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

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
	w, ok := c.userURL(e.way)
	if !ok {
		return false
	}
	w.news, w.why = nil, "its card names its host only, and --agent the place"
	e.way, e.vague = w, true
	return true
}

// isPlaceless reports whether an object names no URL. If it is a card for the rest, the agent
// is called where --agent is, or below that at the usual path, in JSON-RPC: PromptKit's
// examples have such cards.
func (c *Client) isPlaceless(e *endpoint) bool {
	if len(e.card.Interfaces) > 0 {
		return false
	}
	n := node{gjson.Parse(string(e.card.Raw))}
	if isCardURL(c.source.url) || !n.at("capabilities").IsObject() && !n.at("skills").IsArray() {
		return true
	}
	e.card.Interfaces = []a2a.Interface{{URL: c.source.url.String(), Binding: bindingJSONRPC, Version: n.text("protocolVersion")}}
	placed := c.endpointOf(e.card)
	e.err, e.way, e.placeless = placed.err, placed.way, true
	e.way.why = "its card names no URL, and --agent the place"
	return true
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
	}
	for _, i := range e.card.Interfaces {
		u, err := url.Parse(i.URL)
		if err == nil && safe.Origin(u) == safe.Origin(agent) && strings.TrimRight(u.Path, "/") == strings.TrimRight(agent.Path, "/") {
			return true
		}
	}
	return false
}

package transport

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A wish is what the user wants of the interface; "" is anything.
type wish struct{ version, binding string }

// choose picks the interface to use from a card: a way that lacks its URL. The first that we speak
// decides the binding, since the card's order is the agent's preference; of that binding's
// interfaces the newest version is used. Where the user asks for a version that the card
// does not name, an interface is used in it all the same: cards are often wrong there.
func choose(card *a2a.Card, want wish) (way, error) {
	var offers []way // in the card's order
	for _, i := range card.Interfaces {
		for _, b := range bindings() {
			if b.is(i.Binding) && (want.binding == "" || want.binding == b.option) {
				offers = append(offers, offerOf(i, b, isV03(i.Version)))
			}
		}
	}
	if len(offers) == 0 {
		return way{}, noInterface(card, want)
	}
	first := offers[0]
	best := first
	for _, o := range offers {
		wanted := o.binding.name == first.binding.name && !o.protocol.v03 && best.protocol.v03
		if want.version != "" {
			wanted = o.protocol.name() == want.version && best.protocol.name() != want.version
		}
		if wanted {
			best = o
		}
	}
	if want.version != "" {
		best = offerOf(best.iface, best.binding, want.version == version03)
	}
	best.why = want.why(card, best, first)
	return best, nil
}

// offerOf returns the way of an interface in 0.3, or in 1.x, without a URL.
func offerOf(i a2a.Interface, b namedBinding, v03 bool) way {
	if v03 {
		return way{iface: i, binding: b, protocol: protocol{v03: true, proto: b.proto}}
	}
	return way{iface: i, binding: b, protocol: protocol{tenant: i.Tenant}}
}

// why says why an interface was chosen, in half a sentence.
func (w wish) why(card *a2a.Card, best, first way) string {
	switch {
	case card.Raw == "":
		return "there is no card, and --binding and --a2a-version say so"
	case w.binding != "":
		return "--binding asks for it"
	case w.version != "":
		return "--a2a-version asks for it"
	case len(card.Interfaces) == 1:
		return "it is all that the card offers"
	case best.iface != first.iface:
		return fmt.Sprintf("the card prefers %s, and %s is its newest version there", first.binding.name, best.protocol.name())
	}
	return "it is the first in the card that a2astdio speaks"
}

// noInterface says why an agent cannot be talked to, in one sentence.
func noInterface(card *a2a.Card, want wish) error {
	if len(card.Interfaces) == 0 {
		return failf(nil, "the card of %s names no URL: it cannot be called, unless --binding and --a2a-version say how the URL of --agent is", cardName(card))
	}
	var offers []string
	for _, i := range card.Interfaces {
		offers = append(offers, i.Binding+" "+cmp.Or(i.Version, "without a version"))
	}
	need := "we need A2A over JSONRPC or HTTP+JSON"
	if b, ok := bindingOf(want.binding); ok {
		need = "--binding asks for " + b.name
	}
	return failf(nil, "%s offers %s; %s: if the card is wrong, --card takes one that is corrected",
		cardName(card), strings.Join(offers, ", "), need)
}

// wayOf returns how an agent is called by its card, with what is wished for. The first one called
// sets the agent's origin, if that is not known.
func (c *Client) wayOf(e *endpoint, want wish) (way, error) {
	w, err := choose(e.card, want)
	if err != nil {
		return way{}, err
	}
	u, err := url.Parse(w.iface.URL)
	if err != nil || u.Host == "" {
		return way{}, failf(nil, "the card of %s names a URL that is none: %q", cardName(e.card), redactString(w.iface.URL))
	}
	u.Fragment, u.RawFragment = "", ""
	// Only a card in a file comes before the origin is known: the user chose the file, and
	// with it the origin that it names. No later card changes that.
	c.origins.own.CompareAndSwap(nil, u)
	u = c.origins.sameSpelling(u)
	if err := c.origins.check(u, "its card leads to"); err != nil {
		return way{}, err
	}
	if w.binding.proto {
		u = w.protocol.withoutOperation(u)
	}
	w.url, w.unary = u, saysNoStreaming(e.card)
	return w, nil
}

// A Chosen is how an agent is called.
type Chosen struct {
	// At is the interface of the card, with its URL as it is used, which names this
	// machine as --agent does.
	At a2a.Interface
	// Version is "1.0" or "0.3"; Binding is JSONRPC or HTTP+JSON.
	Version, Binding string
	// Why says in half a sentence why it is this one.
	Why string
	// NoCard: the agent has none. What it can do is not known.
	NoCard bool

	protocol protocol
}

// Read decodes a payload that the agent has sent, which is valid JSON. The event is a view of it.
func (c Chosen) Read(raw a2a.JSON) *a2a.Event { return c.protocol.redecoded(string(raw)) }

// Chosen returns how the agent is called. The error is about the card: it cannot be
// had, or names nothing that we can call.
func (c *Client) Chosen(ctx context.Context) (Chosen, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return Chosen{}, err
	}
	w := e.currentWay()
	chosen := Chosen{protocol: w.protocol, At: w.iface, Version: w.protocol.name(), Binding: w.binding.name,
		Why: w.why, NoCard: e.card.Raw == ""}
	chosen.At.URL = w.url.String()
	return chosen, nil
}

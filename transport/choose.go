package transport

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A choice is the interface of a card that is used, and how it is spelled.
type choice struct {
	at       a2a.Interface
	protocol protocol
	binding  binding
	kind     bindingKind
	why      string
}

// A wish is what the user wants of the interface; "" is anything.
type wish struct{ version, binding string }

// An offer is an interface of a card that we speak.
type offer struct {
	at      a2a.Interface
	version version
	kind    bindingKind
}

// choose picks the interface to use from a card. The first that we speak decides the
// binding, since the card's order is the agent's preference; of that binding's
// interfaces the newest version is used.
func choose(card *a2a.Card, want wish, speak []bindingKind) (choice, error) {
	offers := offersOf(card, want, speak)
	if len(offers) == 0 {
		return choice{}, noInterface(card, want, speak)
	}
	first := offers[0]
	offers = slices.DeleteFunc(offers, func(o offer) bool { return o.kind.name != first.kind.name })
	best := offers[0]
	for _, v := range slices.Backward(versions()) {
		if i := slices.IndexFunc(offers, func(o offer) bool { return o.version.name == v.name }); i >= 0 {
			best = offers[i]
		}
	}
	p := best.version.open(best.at)
	return choice{at: best.at, protocol: p, binding: best.kind.open(p), kind: best.kind, why: want.why(card, best, first)}, nil
}

func offersOf(card *a2a.Card, want wish, speak []bindingKind) (offers []offer) {
	for _, i := range card.Interfaces {
		for _, b := range speak {
			for _, v := range versions() {
				if b.is(i.Binding) && v.speaks(i.Version) &&
					(want.version == "" || want.version == v.name) && (want.binding == "" || want.binding == b.option) {
					offers = append(offers, offer{i, v, b})
				}
			}
		}
	}
	return offers
}

// why says why an interface was chosen, in half a sentence.
func (w wish) why(card *a2a.Card, best, first offer) string {
	switch {
	case card.Raw == "":
		return "there is no card, and --binding and --a2a-version say so"
	case w.version != "" && w.binding != "":
		return "--binding and --a2a-version ask for it"
	case w.binding != "":
		return "--binding asks for it"
	case w.version != "":
		return "--a2a-version asks for it"
	case len(card.Interfaces) == 1:
		return "it is all that the card offers"
	case best.at != first.at:
		return fmt.Sprintf("the card prefers %s, and %s is its newest version there", first.kind.name, best.version.name)
	}
	return "it is the first in the card that a2astdio speaks"
}

// noInterface says why an agent cannot be talked to, in one sentence.
func noInterface(card *a2a.Card, want wish, speak []bindingKind) error {
	if len(card.Interfaces) == 0 {
		return failf(nil, "the card of %s names no URL: it cannot be called, unless --binding and --a2a-version say how the URL of --agent is", cardName(card))
	}
	var offers, names, versionNames []string
	for _, i := range card.Interfaces {
		offers = append(offers, i.Binding+" "+cmp.Or(i.Version, "without a version"))
	}
	for _, b := range speak {
		if want.binding == "" || want.binding == b.option {
			names = append(names, b.name)
		}
	}
	for _, v := range versions() {
		versionNames = append(versionNames, v.name)
	}
	offered := fmt.Sprintf("%s offers %s", cardName(card), strings.Join(offers, ", "))
	switch {
	case want.binding == "" && want.version == "":
		return failf(nil, "%s; we need A2A over %s in version %s", offered, strings.Join(names, " or "), strings.Join(versionNames, " or "))
	case want.binding == "":
		return failf(nil, "%s; --a2a-version asks for %s", offered, want.version)
	case want.version == "":
		return failf(nil, "%s; --binding asks for %s", offered, names[0])
	}
	return failf(nil, "%s; --binding and --a2a-version ask for %s %s: if the card is wrong, --card takes one that is corrected",
		offered, names[0], want.version)
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
}

// Chosen returns how the agent is called. The error is about the card: it cannot be
// had, or names nothing that we can call.
func (c *Client) Chosen(ctx context.Context) (Chosen, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return Chosen{}, err
	}
	chosen := Chosen{At: e.at, Version: e.protocol.name(), Binding: e.kind.name, Why: e.why, NoCard: e.card.Raw == ""}
	chosen.At.URL = e.url.String()
	return chosen, nil
}

package transport

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A protocol is how one version of A2A is spelled over JSON-RPC: what a request
// is called and holds, which headers go with it, and how an answer reads. The
// interface is not exported: it separates the versions from the plumbing, and
// changes with them. One is made for each agent, because 1.x echoes the chosen
// interface's tenant.
type protocol interface {
	// name is what ClientOptions.Version calls the version.
	name() string
	// extensionHeader is the header that names activated extensions.
	extensionHeader() string
	// header adds what every request of the version carries.
	header(http.Header)

	// The requests. What they return is marshaled as it is.
	send(m *a2a.Outgoing, stream bool) (method string, params any, err error)
	sendOnce(m *a2a.Outgoing, blocking bool) (method string, params any, err error)
	resubscribe(taskID string) (method string, params any)
	get(taskID string, historyLength int) (method string, params any)
	cancel(taskID string) (method string, params any)
	list(q *a2a.TaskQuery) (method string, params any, err error)
	setPush(c *a2a.PushConfig) (method string, params any, err error)
	getPush(taskID, id string) (method string, params any, err error)
	// listPush asks for all of them, or for the page that the token names.
	listPush(taskID, pageToken string) (method string, params any)
	deletePush(taskID, id string) (method string, params any)
	extendedCard() (method string, params any)

	// decode reads a result into ev, as views of raw, which is valid JSON.
	decode(raw string, ev *a2a.Event)
}

// A version is one entry of the list of protocol versions.
type version struct {
	// name is what ClientOptions.Version calls it.
	name string
	// speaks reports whether a card's version string means this version.
	speaks func(cardVersion string) bool
	open   func(a2a.Interface) protocol
}

// versions lists what we speak, in order of preference.
func versions() []version {
	return []version{
		{"1.0", v1Speaks, openV1},
		{"0.3", v03Speaks, openV03},
	}
}

// bindingJSONRPC is the only binding that we speak. Each agent that was tried
// has it, and the two others (gRPC, HTTP+JSON) say nothing that it cannot.
const bindingJSONRPC = "JSONRPC"

// choose picks the interface to use from a card: the preferred version of ours
// first, then the card's order. want is a version's name, or "" for any.
func choose(card *a2a.Card, want string) (a2a.Interface, protocol, error) {
	for _, v := range versions() {
		if want != "" && want != v.name {
			continue
		}
		for _, i := range card.Interfaces {
			if strings.EqualFold(i.Binding, bindingJSONRPC) && v.speaks(i.Version) {
				return i, v.open(i), nil
			}
		}
	}
	return a2a.Interface{}, nil, noInterface(card, want)
}

// noInterface says why an agent cannot be talked to, in one sentence.
func noInterface(card *a2a.Card, want string) error {
	if len(card.Interfaces) == 0 {
		return failf(nil, "the card of %s names no URL: it cannot be called", cardName(card))
	}
	var offers, speak []string
	for _, i := range card.Interfaces {
		offers = append(offers, i.Binding+" "+cmp.Or(i.Version, "without a version"))
	}
	for _, v := range versions() {
		speak = append(speak, v.name)
	}
	if want != "" {
		return failf(nil, "%s offers %s, and no %s %s, which --a2a-version asks for",
			cardName(card), strings.Join(offers, ", "), bindingJSONRPC, want)
	}
	return failf(nil, "%s offers %s; we need A2A over %s in version %s",
		cardName(card), strings.Join(offers, ", "), bindingJSONRPC, strings.Join(speak, " or "))
}

// majorMinor returns the first two numbers of a version string, without a "v".
func majorMinor(version string) (major, minor string) {
	version = strings.TrimPrefix(strings.TrimSpace(version), "v")
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ = strings.Cut(rest, ".")
	return major, minor
}

package transport

import (
	"net/http"
	"strings"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A protocol is one version of A2A as an agent is spoken to in it. write.go writes what
// is asked, event.go reads what is answered; how both travel is a [binding]'s.
type protocol struct {
	// v03: it is 0.3 (or 0.2, which differs in nothing that we use), else 1.x.
	v03 bool
	// proto: the JSON is that of 0.3's proto, which has other names than its JSON-RPC.
	proto bool
	// tenant is that of the chosen interface; 1.x has it in every request.
	tenant string
}

const version1, version03 = "1.0", "0.3"

// Versions lists the values of [ClientOptions.Version], in order of preference.
func Versions() []string { return []string{"auto", version1, version03} }

// isV03 reports whether a card's version string means 0.3, and not 1.x. The minor version does not
// matter; a major one that is later than we know counts as 1.x, the newest that we speak. A card that
// says nothing is of 0.3: 1.x made the member mandatory, and trpc-a2a-go's says nothing.
func isV03(cardVersion string) bool {
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(cardVersion), "v"), ".")
	return major == "" || major == "0"
}

// name is what ClientOptions.Version calls the version.
func (p protocol) name() string {
	if p.v03 {
		return version03
	}
	return version1
}

// extensionHeader is the header that names activated extensions.
func (p protocol) extensionHeader() string {
	if p.v03 {
		return "X-A2A-Extensions"
	}
	return "A2A-Extensions"
}

// header sets A2A-Version in a request's header, unless its absence says it: a 1.x server has to take
// that for 0.3. For 1.x it is exactly 1.0, whatever minor version the card says: the JS SDK selects its
// parser by it, and answers -32009 to 1.1 and to 1.0.1.
func (p protocol) header(h http.Header) {
	if !p.v03 {
		h.Set("A2A-Version", "1.0")
	}
}

// decode reads the result at the beginning of raw, which is valid JSON, into ev, as views of raw. Behind
// the result, which ev.Raw is, raw may go on.
func (p protocol) decode(raw string, ev *a2a.Event) {
	if source := &ev.FastPath().Source; p.proto {
		if *source == nil {
			*source = new(fastpath.Source)
		}
		(*source).Proto = true
	}
	final := decodeEvent(raw, ev)
	ev.FastPath().Redecode = p.redecode()
	ev.EndsLeg = ev.Kind != a2a.EventUnknown && p.endsLeg(ev.Kind, ev.State, final)
}

// redecode returns the version's redecoded, for [a2a.Event.Clone]: one function for each spelling,
// since a closure for each event would be an allocation each.
func (p protocol) redecode() func(raw string) *a2a.Event {
	switch {
	case p.proto:
		return redecodeProto
	case p.v03:
		return redecodeV03
	}
	return redecodeV1
}

func redecodeProto(raw string) *a2a.Event { return protocol{v03: true, proto: true}.redecoded(raw) }
func redecodeV03(raw string) *a2a.Event   { return protocol{v03: true}.redecoded(raw) }
func redecodeV1(raw string) *a2a.Event    { return protocol{}.redecoded(raw) }

// redecoded decodes a result into an event of its own, which is a view of raw.
func (p protocol) redecoded(raw string) *a2a.Event {
	ev := new(a2a.Event)
	p.decode(raw, ev)
	return ev
}

// endsLeg reports whether an event says that nothing follows for our message: [a2a.Event.EndsLeg].
// final is 0.3's member for that (Mastra's also in 1.x); a terminal state means it also where final was
// forgotten. In 1.x a status-update of input-required ends as well, but no task of that state: the first
// event after an answer may be one, from before the answer was taken. auth-required ends nothing: the
// agent may go on by itself.
func (p protocol) endsLeg(kind a2a.EventKind, state a2a.State, final bool) bool {
	return kind == a2a.EventMessage || state.Terminal() ||
		kind == a2a.EventStatus && (final || !p.v03 && state == a2a.StateInputRequired)
}

// Package card makes an agent's card lead to another place: to a proxy, or to a replay.
package card

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/safe"
)

// IsCard reports whether a document is an agent's card.
func IsCard(doc []byte) bool {
	r := gjson.ParseBytes(doc)
	return r.Get("name").Exists() && r.Get("capabilities").IsObject() &&
		(r.Get("url").Exists() || r.Get("supportedInterfaces").IsArray() || r.Get("protocolVersion").Exists())
}

// URL returns the first place where a card says that its agent is, or "".
func URL(doc []byte) string {
	c := gjson.ParseBytes(doc)
	return cmp.Or(c.Get("url").Str, c.Get("supportedInterfaces.0.url").Str)
}

// Move returns a card whose URLs have passed through move. It leaves out interfaces that move
// refuses or that are not HTTP (gRPC), because their traffic would pass unseen, and returns
// their URLs as dropped; the card's own "url" is base then. signed: the card had signatures.
// The change makes them invalid, so they are left out.
func Move(doc []byte, base string, move func(string) (string, bool)) (moved []byte, dropped []string, signed bool, err error) {
	var card map[string]any
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.UseNumber() // keep numbers as they are
	if err := decoder.Decode(&card); err != nil {
		return nil, nil, false, err
	}
	// place moves an interface, and reports whether it is still there.
	place := func(face map[string]any, binding string) bool {
		old, _ := face["url"].(string)
		transport, _ := face[binding].(string)
		now, ok := move(old)
		if ok = ok && !strings.EqualFold(transport, "GRPC"); !ok {
			dropped = append(dropped, old)
			now = base
		}
		face["url"] = now
		return ok
	}
	if _, ok := card["url"].(string); ok {
		place(card, "preferredTransport")
	}
	for _, names := range [...][2]string{{"supportedInterfaces", "protocolBinding"}, {"additionalInterfaces", "transport"}} {
		if list, ok := card[names[0]].([]any); ok {
			card[names[0]] = slices.DeleteFunc(list, func(e any) bool {
				face, ok := e.(map[string]any)
				return !ok || !place(face, names[1])
			})
		}
	}
	if _, signed = card["signatures"]; signed {
		delete(card, "signatures")
	}
	out, err := rawjson.Marshal(card)
	return out, dropped, signed, err
}

// Mover returns a move for Move, of URLs of a server's origin, with path and query, to base.
func Mover(server, base string) func(string) (string, bool) {
	b, badServer := url.Parse(server)
	return func(old string) (string, bool) {
		a, err := url.Parse(old)
		if err != nil || badServer != nil || !safe.SameOrigin(a, b) {
			return "", false
		}
		path := strings.TrimPrefix(a.EscapedPath(), "/")
		if a.RawQuery != "" {
			path += "?" + a.RawQuery
		}
		return strings.TrimSuffix(base, "/") + "/" + path, true
	}
}

package proxy

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace/card"
)

// TestMove: a card leads to the new place by every way that leads there, and tells
// of those that do not.
func TestMove(t *testing.T) {
	for _, test := range []struct {
		name, card, want string
		dropped          string
		signed           bool
	}{
		{"0.3", `{"name":"a","url":"http://localhost:41242/rpc?x=1","capabilities":{},"x":{"kept":1.0}}`,
			`{"capabilities":{},"name":"a","url":"http://me:1/rpc?x=1","x":{"kept":1.0}}`, "", false},
		{"1.0, signed", `{"name":"a","capabilities":{},"supportedInterfaces":[{"url":"http://127.0.0.1:41242/v1","protocolBinding":"JSONRPC"},{"url":"127.0.0.1:9","protocolBinding":"GRPC"},{"url":"https://elsewhere/","protocolBinding":"HTTP+JSON"}],"signatures":[{}]}`,
			`{"capabilities":{},"name":"a","supportedInterfaces":[{"protocolBinding":"JSONRPC","url":"http://me:1/v1"}]}`, "127.0.0.1:9 https://elsewhere/", true},
		{"elsewhere", `{"name":"a","url":"https://elsewhere/x","capabilities":{},"additionalInterfaces":[{"url":"http://localhost:41242/","transport":"JSONRPC"}]}`,
			`{"additionalInterfaces":[{"transport":"JSONRPC","url":"http://me:1/"}],"capabilities":{},"name":"a","url":"http://me:1/"}`, "https://elsewhere/x", false},
	} {
		got, dropped, signed, err := card.Move([]byte(test.card), "http://me:1/", card.Mover("http://127.0.0.1:41242/", "http://me:1/"))
		if err != nil || string(got) != test.want || strings.Join(dropped, " ") != test.dropped || signed != test.signed || !card.IsCard([]byte(test.card)) {
			t.Errorf("%s: %s, %v, signed %v, %v", test.name, got, dropped, signed, err)
		}
	}
	_, _, _, err := card.Move([]byte("x"), "http://b/", card.Mover("http://a/", "http://b/"))
	must.True(t, err != nil, "what is no JSON is a card")
	if card.IsCard([]byte(`{"id":1,"result":{}}`)) || card.IsCard([]byte(`[]`)) {
		t.Error("something else is a card")
	}
}

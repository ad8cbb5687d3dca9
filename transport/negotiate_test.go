package transport

import (
	"fmt"
	"strings"
	"testing"
)

// Which version is chosen, by the card and the options.
func TestVersionChoice(t *testing.T) {
	const (
		v03    = `{"name":"Test","url":"%[1]s/old","protocolVersion":"0.3.0"}`
		silent = `{"name":"Test","url":"%[1]s/old"}`
		v1     = `{"name":"Test","supportedInterfaces":[{"url":"%[1]s/new","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"x"}]}`
		both   = `{"name":"Test","url":"%[1]s/old","protocolVersion":"0.3.0","supportedInterfaces":[{"url":"%[1]s/old","protocolBinding":"JSONRPC","protocolVersion":"0.3"},{"url":"%[1]s/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},{"url":"%[1]s/new","protocolBinding":"JSONRPC","protocolVersion":"1.1"}]}`
		rest   = `{"name":"Test","supportedInterfaces":[{"url":"%[1]s/new","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}]}`
		later  = `{"name":"Test","supportedInterfaces":[{"url":"%[1]s/new","protocolBinding":"JSONRPC","protocolVersion":"2.0"}]}`
	)
	for _, test := range []struct{ card, ask, want string }{
		{v03, "", "0.3 at /old"},
		{v03, "auto", "0.3 at /old"},
		{v03, "0.3", "0.3 at /old"},
		{v03, "1.0", "1.0 at /old"},
		{silent, "auto", "0.3 at /old"},
		{silent, "1.0", "1.0 at /old"},
		{v1, "auto", "1.0 at /new x"},
		{v1, "1.0", "1.0 at /new x"},
		{v1, "0.3", "0.3 at /new x"},
		{both, "auto", "1.0 at /new"},
		{both, "1.0", "1.0 at /rest"},
		{both, "0.3", "0.3 at /old"},
		{rest, "auto", "1.0 at /new"},
		{later, "auto", "1.0 at /new"},
		{`{"name":"Test"}`, "auto", "agent: the card of Test names no URL: it cannot be called, unless --binding and --a2a-version say how the URL of --agent is"},
	} {
		agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":1}}}`))
		agent.card = test.card
		c := wireClient(t, agent.URL, &ClientOptions{Version: test.ask})
		how, err := c.Chosen(t.Context())
		_, callErr := c.Get(t.Context(), "t", -1)
		got := ""
		if err != nil {
			got = err.Error()
			if fmt.Sprint(callErr) != got || how != (Chosen{}) {
				t.Errorf("%v %v", err, callErr)
			}
		} else {
			got = strings.TrimSpace(how.Version + " at " + strings.TrimPrefix(how.At.URL, agent.URL) + " " + how.At.Tenant)
			r := agent.seen()[0]
			if r.Method != "" && (r.Method == "GetTask") != (r.Header.Get("A2A-Version") == "1.0") || callErr != nil {
				t.Errorf("%s with A2A-Version %q: %v", r.Method, r.Header.Get("A2A-Version"), callErr)
			}
		}
		if got != test.want {
			t.Errorf("%s, %q: got %s\nwant %s", test.card, test.ask, got, test.want)
		}
	}
	if _, err := NewClient("http://agent.example", &ClientOptions{Version: "0.9"}); err == nil {
		t.Error("0.9 is spoken")
	}
}

// A version that is refused by its number is an error; no other version is tried.
func TestNoDowngrade(t *testing.T) {
	agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32009,"message":"'1.0' is not supported"}}`))
	agent.card = bothCard
	const want = "agent: '1.0' is not supported (-32009): it was called in A2A 1.0; --a2a-version 0.3 asks for the other"
	_, err := wireClient(t, agent.URL, nil).Send(t.Context(), hello())
	if err == nil || err.Error() != want || len(agent.seen()) != 1 {
		t.Errorf("%v after %d requests", err, len(agent.seen()))
	}
	agent.card = `{"name":"Test","url":"%[1]s/rpc","protocolVersion":"0.3.0"}`
	_, err = wireClient(t, agent.URL, nil).Get(t.Context(), "t", -1)
	if err == nil || !strings.HasSuffix(err.Error(), ": it was called in A2A 0.3; --a2a-version 1.0 asks for the other") {
		t.Error(err)
	}
	agent.answer = wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32008,"message":"extension support required"}}`)
	_, err = wireClient(t, agent.URL, nil).Get(t.Context(), "t", -1)
	if err == nil || err.Error() != "agent: extension support required (-32008): --extension URI activates what it requires" {
		t.Error(err)
	}
	agent.card = bothCard
	_, err = wireClient(t, agent.URL, nil).Get(t.Context(), "t", -1)
	if err == nil || !strings.HasSuffix(err.Error(), ": --extension https://e.example/x/v1 activates what it requires") {
		t.Error(err)
	}
}

package transport

import (
	"strings"
	"testing"
)

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

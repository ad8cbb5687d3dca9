package transport

import (
	"net/http"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestHangUp: the connection is closed so that the agent stops, but not if it has
// carried another context's message: Gemini's server would stop that, too.
func TestHangUp(t *testing.T) {
	heard := make(chan string, 8)
	agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
		wireSSE(`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}}`+"\n\n")(w, r)
		w.(http.Flusher).Flush()
		if r.Header.Get("Short") == "" {
			<-r.Context().Done() // net/http's server takes the end of the connection for this
			heard <- "stopped"
		}
	})
	send := func(c *Client, context string) *Stream {
		s := must.Get(c.Send(t.Context(), &a2a.Outgoing{ID: "m", ContextID: context, Parts: []a2a.OutPart{{Text: "x"}}}))(t)
		must.Get(s.Read())(t)
		return s
	}
	alone := send(wireClient(t, agent.URL, nil), "a")
	if !alone.HangUp() {
		t.Error("a connection of its own was not ended")
	}
	<-heard

	c := wireClient(t, agent.URL, &ClientOptions{Header: http.Header{"Short": {"1"}}})
	first := send(c, "a")
	for _, err := first.Read(); err == nil; _, err = first.Read() {
	}
	if second := send(c, "b"); second.HangUp() {
		t.Error("a connection that has carried another context's message was ended")
	}
}

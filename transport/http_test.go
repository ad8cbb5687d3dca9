package transport

import (
	"net/http"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestTraceContext: a parent is sent, with its state. An invalid parent is
// not sent, nor its state.
func TestTraceContext(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for s, want := range map[string]bool{
		parent:            true,
		parent + "-more":  false,
		"cc" + parent[2:]: false,
		"":                false,
		parent[:54]:       false,
		"00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": false,
		"00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": false,
		parent + "\r\nX-Other: 1":                                 false,
		"00-0af7651916cd43dd8448eb211c80319cb-7ad6b7169203331-01": false,
	} {
		h := http.Header{}
		setTrace(h, a2a.TraceContext{Parent: s, State: "a=b"})
		if got := h.Get("Traceparent") == s && h.Get("Tracestate") == "a=b"; got != want || !want && len(h) > 0 {
			t.Errorf("%q: %v", s, h)
		}
	}
	h := http.Header{}
	setTrace(h, a2a.TraceContext{Parent: parent, State: "a\r\nX: b"})
	if len(h) != 1 {
		t.Errorf("%v", h)
	}
}

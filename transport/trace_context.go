package transport

import (
	"net/http"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// setTrace adds the headers of a trace (W3C Trace Context, sections 3.2 and 3.3), if
// its parent is one: what comes from an editor becomes no other header.
func setTrace(h http.Header, t a2a.TraceContext) {
	if !isTraceParent(t.Parent) {
		return
	}
	h.Set("Traceparent", t.Parent)
	if printable(t.State) {
		h.Set("Tracestate", t.State)
	}
}

// isTraceParent reports whether s begins as every version of the header does: two
// digits, 32, 16 and 2, in lower-case hex. Later versions may add to that.
func isTraceParent(s string) bool {
	const shape = "00-00000000000000000000000000000000-0000000000000000-00"
	if len(s) < len(shape) || !printable(s) || len(s) > len(shape) && (s[:2] == "00" || s[len(shape)] != '-') {
		return false
	}
	for i := range len(shape) {
		c := s[i]
		if hex := '0' <= c && c <= '9' || 'a' <= c && c <= 'f'; (shape[i] == '0') != hex || shape[i] == '-' && c != '-' {
			return false
		}
	}
	return s[:2] != "ff"
}

package transport

import (
	"net/http"
	"regexp"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// setTrace adds the headers of a trace (W3C Trace Context, sections 3.2 and 3.3), if
// its parent is one: what comes from an editor becomes no other header.
func setTrace(h http.Header, t a2a.TraceContext) {
	if t.Parent == "" || !isTraceParent(t.Parent) {
		return
	}
	h.Set("Traceparent", t.Parent)
	if printable(t.State) {
		h.Set("Tracestate", t.State)
	}
}

// isTraceParent reports whether s begins as every version of the header does. Later
// versions may add to that.
func isTraceParent(s string) bool {
	ok, _ := regexp.MatchString(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-|$)`, s)
	return ok && printable(s) && s[:2] != "ff" && (s[:2] != "00" || len(s) == 55)
}

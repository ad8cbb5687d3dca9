package bridge_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestEventTooLarge: an event over the limit ends the turn at once with an error that says
// so. The bridge does not ask for the task, which would be as large.
func TestEventTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlood(t, 0, 0)
		defer f.close()
		f.instead = func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, `data: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}}`+"\n\ndata: ")
			piece := []byte(strings.Repeat("x", 1<<20))
			for range 64 + 1 { // MiB, of which 64 are allowed
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		}
		lines := newLineScanner(f.out)
		start := time.Now()
		f.prompt(lines)
		lines.text()
		if took := time.Since(start); took > 0 || !strings.Contains(lines.result, "more than 64 MiB, which is the limit") {
			t.Errorf("after %v: %s", took, lines.result)
		}
	})
}

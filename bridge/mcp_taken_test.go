package bridge

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/tidwall/gjson"
)

// A call that has taken what is new is answered: a cancel that comes then is too late.
func TestMCPCancelOrTake(t *testing.T) {
	e := &mcpEditor{}
	s := &server{mcp: e}
	e.server = s
	lost, pad := 0, strings.Repeat("X", 2000)
	for i := range 20000 {
		c := &mcpCall{editorRequest: &editorRequest{Request: &jsonrpc2.Request{ID: jsonrpc2.ID{Num: 1}}, server: s}}
		ctx, cancel := context.WithCancelCause(context.Background())
		c.ctx = ctx
		e.calls[c.ID] = cancel
		raw := json.RawMessage(`{"requestId":1,"reason":"timed out ` + pad + `"}`)
		n := &mcpCall{editorRequest: &editorRequest{Request: &jsonrpc2.Request{Params: &raw}, server: s}, params: gjson.ParseBytes(raw)}
		done := make(chan bool)
		go func() { e.cancelled(n); close(done) }()
		for range i % 200 {
			runtime.Gosched()
		}
		takes := c.isWanted() // report takes it
		<-done
		if takes && !c.isWanted() {
			lost++
		} // callTool drops it
	}
	if lost > 0 {
		t.Errorf("%d results were taken and dropped", lost)
	}
}

package bridge_test

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A cancel beside a wait is not lost.
func TestMCPWaitAndCancel(t *testing.T) {
	for range 30 {
		withMCP(t, bridge.Options{Workspace: os.TempDir()}, "", func(c *mcpClient) {
			h := handleIn(c.next(c.call("send_message", `{"text":"ask"}`)))
			c.call("wait_task", `{"handle":"`+h+`"}`)
			b := c.call("cancel_task", `{"handle":"`+h+`"}`)
			c.next(b)
			time.Sleep(time.Minute)
			end := textOfResult(c.next(c.call("wait_task", `{"handle":"`+h+`"}`)))
			must.Has(c, end, "state: canceled")
		})
	}
}

// A cancel at the moment of the result takes nothing away: what the result would have said, the
// next one says.
func TestMCPCancelAtResult(t *testing.T) {
	for range 30 {
		withMCP(t, bridge.Options{Workspace: os.TempDir(), AnswerWithin: 5 * time.Second}, "", func(c *mcpClient) {
			id, said := c.call("send_message", `{"text":"slow"}`), ""
			time.Sleep(5 * time.Second)
			c.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"timed out"}}`)
			synctest.Wait()
			for len(c.lines) > 0 {
				said += textOfResult(<-c.lines)
			}
			_, handle, _ := strings.Cut(textOfResult(c.next(c.call("list_agents", `{}`))), "under way: ")
			said += textOfResult(c.next(c.call("wait_task", `{"handle":"`+handle+`"}`)))
			must.Equal(c, strings.Count(said, "tick 3 of"), 1, "times it is said", said)
		})
	}
}

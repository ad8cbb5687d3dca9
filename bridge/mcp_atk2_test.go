package bridge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
)

// A client hears that the call goes on while its user thinks.
func TestMCPProgressWhileAsked(t *testing.T) {
	withMCP(t, bridge.Options{Workspace: os.TempDir(), AnswerWithin: 10 * time.Minute}, asksForms, func(c *mcpClient) {
		id := c.call("send_message", `{"text":"shell"}`, `,"_meta":{"progressToken":"p"}`)
		asked := c.next("").Get("id").Raw
		time.Sleep(2 * time.Minute)
		n := 0
		for len(c.lines) > 0 {
			if m := <-c.lines; m.Get("method").Str == "notifications/progress" {
				n++
			}
		}
		c.write(`{"jsonrpc":"2.0","id":` + asked + `,"result":{"action":"accept","content":{"choice":"Allow once"}}}`)
		c.next(id)
		if n < 20 {
			c.Errorf("%d notifications in two minutes", n)
		}
	})
}

// wait_task and cancel_task at once.
func TestMCPWaitAndCancel(t *testing.T) {
	lost := 0
	for range 100 {
		withMCP(t, bridge.Options{Workspace: os.TempDir()}, "", func(c *mcpClient) {
			h := handleIn(c.next(c.call("send_message", `{"text":"ask"}`)))
			c.call("wait_task", `{"handle":"`+h+`"}`)
			b := c.call("cancel_task", `{"handle":"`+h+`"}`)
			c.next(b)
			time.Sleep(time.Minute)
			end := textOfResult(c.next(c.call("wait_task", `{"handle":"`+h+`"}`)))
			if !strings.Contains(end, "state: canceled") {
				lost++
			}
		})
	}
	if lost > 0 {
		t.Errorf("%d of 100 cancels lost", lost)
	}
}

// What a call brings while the bridge ends is noted as taken: the next process does not say it again.
func TestMCPTakenAtEnd(t *testing.T) {
	dir := ""
	withMCP(t, bridge.Options{Workspace: os.TempDir()}, "", func(c *mcpClient) {
		dir = c.sessions
		id := c.call("send_message", `{"text":"slow"}`)
		time.Sleep(5 * time.Second)
		c.in.Close()
		if text := textOfResult(c.next(id)); !strings.Contains(text, "state: canceled") {
			c.Errorf("%s", text)
		}
	})
	files, _ := filepath.Glob(dir + "/*/*/*")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		if strings.Contains(string(b), "slow") && strings.Contains(f, "journal") {
			if !strings.Contains(string(b), `{"taken":true}`) {
				t.Error("not noted as taken")
			}
		}
	}
	if len(files) == 0 {
		t.Error("none")
	}
}

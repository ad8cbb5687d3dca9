package bridge_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"
)

// steps is how many events the agent sends, together that many at once.
const behindSteps, together = 200, 20

// growing is the event number n of a call whose output grows, or of text.
func growing(n int, tool bool) string {
	const ids = `"kind":"artifact-update","taskId":"t","contextId":"c","append":true,"lastChunk":false`
	if !tool {
		return fmt.Sprintf(`{%s,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":"%s"}]}}`, ids, numbered(n, 8))
	}
	return fmt.Sprintf(`{%s,"artifact":{"artifactId":"tool-call-output","parts":[{"kind":"text","text":"%s"}]}}`, ids, output(n))
}

// output is what the tool has said up to event n.
func output(n int) string {
	var b strings.Builder
	for i := range n + 1 {
		b.WriteString(numbered(i, 8))
	}
	return b.String()
}

// serveGrowing answers a prompt with events that come together.
func serveGrowing(w http.ResponseWriter, tool bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(events ...string) {
		var b strings.Builder
		for _, e := range events {
			fmt.Fprintf(&b, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}\n\n", e)
		}
		_, _ = io.WriteString(w, b.String())
		_ = http.NewResponseController(w).Flush()
	}
	const call = `{"kind":"status-update","taskId":"t","contextId":"c","final":false,"metadata":{"coderAgent":{"kind":"tool-call-update"}},"status":{"state":"working","message":{"kind":"message",` +
		`"messageId":"%s","role":"agent","parts":[{"kind":"data","data":{"request":{"callId":"call","name":"run_shell_command","args":{"command":"make"}},"status":"%s","tool":{"kind":"execute"}%s}}]}}}`
	send(`{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}`)
	if tool {
		send(fmt.Sprintf(call, "m1", "executing", ""))
	}
	for n := 0; n < behindSteps; n += together {
		var events []string
		for i := range together {
			events = append(events, growing(n+i, tool))
		}
		send(events...)
	}
	if tool {
		send(fmt.Sprintf(call, "m2", "success", `,"response":{"resultDisplay":"done"}`))
	}
	send(`{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":true}`)
}

// TestEditorBehind: an editor that is slow gets only the newest of several snapshots of a
// tool call, in both protocols. In A2A lines, several texts become one line. Nothing is
// lost, and the numbers of the lines have no gap. An editor that keeps up gets each event.
func TestEditorBehind(t *testing.T) {
	for _, lines := range []bool{false, true} {
		for _, tool := range []bool{true, false} {
			for _, behind := range []bool{true, false} {
				t.Run(fmt.Sprintf("lines=%t/tool=%t/behind=%t", lines, tool, behind), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { editorBehind(t, lines, tool, behind) })
				})
			}
		}
	}
}

func editorBehind(t *testing.T, lines, tool, behind bool) {
	f := newFlood(t, 0, 0)
	defer f.close()
	f.instead = func(w http.ResponseWriter) { serveGrowing(w, tool) }
	read := newLineScanner(f.out)
	if lines {
		io.WriteString(f.in, `{"jsonrpc":"2.0","id":2,"method":"message/stream","params":{"text":"go"}}`+"\n")
	} else {
		f.prompt(read)
	}
	var text, live string
	seq, updates, ended := uint64(0), 0, false
	for read.result == "" {
		if behind {
			time.Sleep(time.Second)
		}
		line := read.next()
		if p := gjson.GetBytes(line, "params.seq"); lines && p.Exists() {
			if seq++; p.Uint() != seq {
				t.Fatalf("line %d has number %d", seq, p.Uint())
			}
		}
		u := gjson.GetBytes(line, "params.update")
		switch kind := u.Get("sessionUpdate").Str + gjson.GetBytes(line, "method").Str; {
		case strings.HasPrefix(kind, "agent_message_chunk"):
			text, updates = text+u.Get("content.text").Str, updates+1
		case kind == "event/artifact":
			text, updates = text+gjson.GetBytes(line, "params.text").Str, updates+1
		case strings.HasPrefix(kind, "tool_call_update"):
			now := u.Get("content.0.content.text").Str
			ended = u.Get("status").Str == "completed"
			if !ended && !strings.Contains(now, live) {
				t.Fatalf("%q after %q", now, live)
			} else if !ended {
				live = strings.Trim(now, "`\n")
			}
			updates++
		case kind == "event/toolCall":
			c := gjson.GetBytes(line, "params.toolCall")
			ended = c.Get("status").Str == "SUCCEEDED"
			if now := c.Get("live_content").Str; now != "" {
				if !strings.HasPrefix(now, live) {
					t.Fatalf("%q after %q", now, live)
				}
				live = now
			}
			updates++
		}
	}
	want := output(behindSteps - 1)
	switch {
	case tool && (live != want || !ended):
		t.Errorf("%q at last, ended %t", live, ended)
	case !tool && text != want:
		t.Errorf("%q", text)
	}
	// A slow editor gets one update of events that come together. ACP joins text anyway.
	most, least := behindSteps/together+together, behindSteps/together
	if !behind && (tool || lines) {
		most, least = behindSteps+5, behindSteps
	}
	if updates > most || updates < least {
		t.Errorf("%d updates, not %d to %d", updates, least, most)
	}
}

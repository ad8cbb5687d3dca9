package companion

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/mcphttp"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestStream: a stream tells the context as soon as it is open, each decision, and
// something every 30 s, so that no CLI takes it for broken.
func TestStream(t *testing.T) {
	at := filesIn(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		context := func(file string) string {
			return at(`{"workspaceState":{"openFiles":[{"path":"@` + file + `","timestamp":1}]}}`)
		}
		say(t, w.server, MethodContextUpdate, context("a"))
		cli, other := w.connect(), w.connect()
		time.Sleep(time.Second)
		synctest.Wait()
		for _, c := range []*testCLI{cli, other} {
			wantLines(t, "a new stream", c.heard(), ": connected", `data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":`+context("a")+`}`)
		}
		cli.tool("openDiff", `{"filePath":"/w/a","newContent":"x"}`)
		say(t, w.server, MethodDiffAccepted, `{"diffId":"1","content":"a\nb\r\n  "}`)
		say(t, w.server, MethodContextUpdate, context("b"))
		synctest.Wait()
		wantLines(t, "a decision, at once", cli.heard(), `data: {"jsonrpc":"2.0","method":"ide/diffAccepted","params":{"filePath":"/w/a","content":"a\nb\r\n  "}}`)
		time.Sleep(time.Second)
		synctest.Wait()
		wantLines(t, "the next context", cli.heard(), `data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":`+context("b")+`}`)
		wantLines(t, "another CLI", other.heard(), `data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":`+context("b")+`}`)

		for range 120 { // an hour
			time.Sleep(30 * time.Second)
			synctest.Wait()
			if events := cli.heard(); len(events) == 0 || events[0] != ": keepalive" {
				t.Fatalf("in 30 s: %q", events)
			}
		}
		if got, _ := cli.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); !strings.HasPrefix(got, "200 ") {
			t.Errorf("after an hour: %s", got)
		}
	})
}

// TestSessionEnds: when a stream ends, the CLI may come back for a while, and
// misses nothing; then it is gone, with its diffs. One that says goodbye is gone at
// once.
func TestSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cli, other := w.connect(), w.connect()
		for _, c := range []*testCLI{cli, other} {
			c.tool("openDiff", `{"filePath":"/w/a","newContent":"x"}`)
			c.tool("openDiff", `{"filePath":"/w/b","newContent":"x"}`)
			c.hang()
			<-c.ended
			c.heard()
		}
		w.editor.heard()
		say(t, w.server, MethodDiffAccepted, `{"diffId":"1","content":"meanwhile"}`)
		time.Sleep(sessionGrace - time.Second)
		cli.listen()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		wantLines(t, "a CLI that came back", cli.heard(), ": connected",
			`data: {"jsonrpc":"2.0","method":"ide/diffAccepted","params":{"filePath":"/w/a","content":"meanwhile"}}`)
		said := w.editor.heard()
		if len(said) != 2 || !strings.HasPrefix(said[0], "ide/closeDiff") || !strings.HasPrefix(said[1], "ide/closeDiff") {
			t.Errorf("of the other one the editor heard %q", said)
		}
		if got, _ := other.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); !strings.HasPrefix(got, "404 ") {
			t.Errorf("its session: %s", got)
		}
		if got, _ := w.do(http.MethodDelete, "", mcphttp.SessionHeader, cli.id); got != "204 " {
			t.Errorf("goodbye: %s", got)
		}
		<-cli.ended
		synctest.Wait()
		wantLines(t, "the editor", w.editor.heard(), "ide/closeDiff 2 /w/b")
		if got, _ := cli.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); !strings.HasPrefix(got, "404 ") {
			t.Errorf("after goodbye: %s", got)
		}
	})
}

// TestStalled: a CLI that does not read (it was stopped) keeps nothing from the
// others; when it has not read for long, it and its diffs are gone.
func TestStalled(t *testing.T) {
	at := filesIn(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cli, stalled := w.connect(), &testCLI{world: w}
		_, header := w.do(http.MethodPost, initialize)
		stalled.id = header.Get(mcphttp.SessionHeader)
		stalled.tool("openDiff", `{"filePath":"/w/s","newContent":"x"}`)
		conn := must.Get(w.net.Dial(t.Context(), "", ""))(t)
		defer conn.Close()
		// It reads nothing, from the first byte of the answer on.
		must.Do(t, w.request(t.Context(), http.MethodGet, "", mcphttp.SessionHeader, stalled.id).Write(conn))
		synctest.Wait()
		w.editor.heard()
		cli.heard()
		for i := range 100 {
			file := string(rune('a' + i%2))
			say(t, w.server, MethodContextUpdate, at(`{"workspaceState":{"openFiles":[{"path":"@`+file+`","timestamp":1}]}}`))
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		if events := cli.heard(); len(events) != 100 {
			t.Errorf("beside one that is stalled, a CLI heard %d contexts of 100", len(events))
		}
		time.Sleep(mcphttp.WriteWait + sessionGrace)
		synctest.Wait()
		wantLines(t, "the editor", w.editor.heard(), "ide/closeDiff 1 /w/s")
		if n := len(w.server.mcp.sessions); n != 1 {
			t.Errorf("there are %d sessions", n)
		}
	})
}

// TestClose: the end of the companion ends all streams and requests, also one that
// waits for the editor, and nothing is left running. The editor is asked nothing.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cli, busy := w.connect(), w.connect()
		cli.tool("openDiff", `{"filePath":"/w/a","newContent":"x"}`)
		asked := make(chan struct{})
		w.editor.open = hang(asked)
		done := make(chan struct{})
		go func() { // ends with the companion
			defer close(done)
			r := w.request(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"openDiff","arguments":{"filePath":"/w/b","newContent":""}}}`, mcphttp.SessionHeader, busy.id)
			if response, err := w.client.Do(r); err == nil {
				response.Body.Close()
			}
		}()
		<-asked
		w.editor.heard()
		began := time.Now()
		if err := w.server.Close(); err != nil {
			t.Error(err)
		}
		<-cli.ended
		<-busy.ended
		<-done
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
		synctest.Wait()
		wantLines(t, "the editor", w.editor.heard())
		if err := w.server.Close(); err != nil {
			t.Errorf("the second time: %v", err)
		}
		// What the editor says now is heard by nobody, and does no harm.
		say(t, w.server, MethodDiffAccepted, `{"diffId":"1","content":"x"}`)
		say(t, w.server, MethodContextUpdate, `{}`)
		say(t, w.server, MethodWorkspaces, `{"workspaces":["/w"]}`)
	})
}

package bridge_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/pipenet"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport"
)

var pressure = flag.Int("pressure", 64, "how many MiB TestLargeStream passes through; 1024 is the bar")

const (
	chunkText = 200      // bytes of text in an event, mostly
	largeText = 32 << 10 // and in one of TestLargeStream, which is in a hurry
	// flat is how much memory may grow: by the buffers of the pipes and of net/http, an event
	// in each stage, and garbage that is not collected yet.
	flat = 4 << 20
	// inFlight is how many events the agent may be ahead of a blocked editor:
	// what fits into net/http's buffer of 4 KiB and the frame reader's of 32.
	inFlight = (4<<10 + 32<<10) / chunkText
)

// A floodAgent answers a prompt with as many chunks of text as it can write, and counts
// them.
type floodAgent struct {
	chunks int
	size   int // of a chunk
	said   atomic.Int64
	// instead, if set, answers a prompt.
	instead func(http.ResponseWriter)
}

func (a *floodAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprint(w, defaultCard)
		return
	}
	if a.instead != nil {
		a.instead(w)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	event := func(json string) error {
		if _, err := fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}\n\n", json); err != nil {
			return err
		}
		return flush()
	}
	const ids = `"taskId":"t","contextId":"c"`
	_ = event(`{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}`)
	for n := range a.chunks {
		if event(fmt.Sprintf(`{"kind":"status-update",%s,"status":{"state":"working","message":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"%s"}]}},"final":false}`,
			ids, numbered(n, a.size))) != nil {
			return
		}
		a.said.Add(1)
	}
	_ = event(`{"kind":"status-update",` + ids + `,"status":{"state":"completed"},"final":true}`)
}

// numbered is the text of a chunk: its number, so that a lost one shows.
func numbered(n, size int) string { return fmt.Sprintf("%0*d", size, n) }

// flood is a bridge before a floodAgent, and the editor's two pipes.
type flood struct {
	*floodAgent
	in    *io.PipeWriter
	out   *io.PipeReader
	close func()
}

func newFlood(t *testing.T, chunks, size int) *flood {
	a := &floodAgent{chunks: chunks, size: size}
	listener := pipenet.Listen()
	server := &http.Server{Handler: a}
	network := &http.Transport{DialContext: listener.Dial}
	client := must.Get(transport.NewClient("http://agent.invalid/", &transport.ClientOptions{RoundTripper: network}))(t)
	toBridge, in := io.Pipe()
	out, fromBridge := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(listener) }) // ends with the server, in close
	wg.Go(func() {                               // ends with its input, in close
		if err := bridge.Serve(context.Background(), toBridge, fromBridge, &bridge.Options{Client: client, NewID: func() string { return "s" }}); err != nil {
			t.Errorf("the bridge ended with %v", err)
		}
		fromBridge.Close()
	})
	return &flood{a, in, out, func() {
		in.Close()
		_, _ = io.Copy(io.Discard, out)
		client.Close()
		network.CloseIdleConnections()
		server.Close()
		wg.Wait()
	}}
}

// prompt writes what an editor writes to get the flood, and reads what it must
// read before it.
func (f *flood) prompt(lines *lineScanner) {
	for _, l := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`,
	} {
		io.WriteString(f.in, l+"\n")
		lines.next()
	}
	io.WriteString(f.in, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}`+"\n")
}

// TestBlockedEditor: when the editor stops reading, the agent is slowed, and the bridge
// still takes requests. Memory does not grow, a cancel reaches the agent, and when the
// editor reads again nothing is missing.
func TestBlockedEditor(t *testing.T) {
	const chunks = 10_000
	synctest.Test(t, func(t *testing.T) {
		f := newFlood(t, chunks, chunkText)
		defer f.close()
		lines := newLineScanner(f.out)
		before := heap()
		f.prompt(lines)
		text := lines.firstText()
		time.Sleep(time.Hour) // the editor is busy
		synctest.Wait()
		if said := f.said.Load(); said == 0 || said > inFlight {
			t.Errorf("the agent got rid of %d events while nobody read; %d fit into the buffers", said, inFlight)
		}
		if grown := heap() - before; grown > flat {
			t.Errorf("the bridge holds %d KiB for an editor that does not read", grown>>10)
		}
		text += lines.text()
		for n := range len(text) / chunkText {
			if text[n*chunkText:(n+1)*chunkText] != numbered(n, chunkText) {
				t.Fatalf("chunk %d is missing, or not in its place", n)
			}
		}
		if want := `{"stopReason":"end_turn"}`; lines.result != want {
			t.Errorf("the prompt ended with %s, want %s", lines.result, want)
		}
		if len(text) != chunks*chunkText {
			t.Errorf("%d bytes of text are shown, %d were said", len(text), chunks*chunkText)
		}
	})
}

// TestLargeStream: the memory of a turn does not depend on how much the agent says.
func TestLargeStream(t *testing.T) {
	chunks := *pressure << 20 / largeText
	if testing.Short() {
		chunks /= 4
	}
	synctest.Test(t, func(t *testing.T) {
		f := newFlood(t, chunks, largeText)
		defer f.close()
		lines := newLineScanner(f.out)
		f.prompt(lines)
		var most, first int64
		shown, looks := 0, 0
		for lines.result == "" {
			line := lines.next()
			shown += len(gjson.GetBytes(line, "params.update.content.text").Str)
			if shown>>23 > looks { // each 8 MiB
				looks = shown >> 23
				if now := heap(); first == 0 {
					first = now
				} else {
					most = max(most, now-first)
				}
			}
		}
		if shown != chunks*largeText {
			t.Errorf("%d bytes of text are shown, %d were said", shown, chunks*largeText)
		}
		if most > flat {
			t.Errorf("memory grew by %d KiB over %d MiB", most>>10, *pressure)
		}
		t.Logf("%d MiB of text: memory grew by %d KiB", *pressure, most>>10)
	})
}

// heap is what is in use, after a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A lineScanner reads the editor's lines one by one, and some kB ahead.
type lineScanner struct {
	r      *bufio.Reader
	result string // of the prompt
}

func newLineScanner(r io.Reader) *lineScanner { return &lineScanner{r: bufio.NewReader(r)} }

// next returns the next line.
func (l *lineScanner) next() []byte {
	line, err := l.r.ReadBytes('\n')
	if err != nil {
		l.result = err.Error()
	} else if gjson.GetBytes(line, "id").Int() == 2 {
		l.result = gjson.GetBytes(line, "result").Raw + gjson.GetBytes(line, "error").Raw
	}
	return line
}

// text reads until the prompt's reply, and returns the text in between.
func (l *lineScanner) text() string {
	var text strings.Builder
	for l.result == "" {
		u := gjson.GetBytes(l.next(), "params.update")
		if u.Get("sessionUpdate").Str == "agent_message_chunk" {
			text.WriteString(u.Get("content.text").Str)
		}
	}
	return text.String()
}

// firstText reads until there is some.
func (l *lineScanner) firstText() string {
	for l.result == "" {
		if text := gjson.GetBytes(l.next(), "params.update.content.text").Str; text != "" {
			return text
		}
	}
	return ""
}

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

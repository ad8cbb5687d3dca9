package bridge_test

import (
	"flag"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
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
	size   int           // of a chunk
	pause  time.Duration // before each
	said   atomic.Int64
}

func (a *floodAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprint(w, defaultCard)
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
		time.Sleep(a.pause)
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

// flood is an editor, which reads when it takes something from its lines, of a bridge before a floodAgent.
type flood struct {
	*mcpClient
	*floodAgent
	result string // of the prompt
}

// newFlood is one that has begun a prompt.
func newFlood(t *testing.T, a *floodAgent, opts bridge.Options) (f *flood, end func()) {
	f = &flood{mcpClient: &mcpClient{T: t, lines: make(chan gjson.Result)}, floodAgent: a}
	opts.Client = clientOf(t, a, &transport.ClientOptions{})
	end = f.serve(&opts, func(m gjson.Result) { f.lines <- m })
	session := f.opens("")
	f.write(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"` + session + `","prompt":[{"type":"text","text":"go"}]}}`)
	return f, end
}

// read reads a line, and returns what the agent says in it.
func (f *flood) read() string {
	m, ok := <-f.lines
	if !ok {
		f.result = "the bridge has ended"
	} else if m.Get("id").Int() == 2 {
		f.result = m.Get("result").Raw + m.Get("error").Raw
	}
	return m.Get("params.update.content.text").Str
}

// TestBlockedEditor: when the editor stops reading, the agent is slowed, and the bridge
// still takes requests. Memory does not grow, a cancel reaches the agent, and when the
// editor reads again nothing is missing.
func TestBlockedEditor(t *testing.T) {
	const chunks = 10_000
	synctest.Test(t, func(t *testing.T) {
		before := heap()
		f, end := newFlood(t, &floodAgent{chunks: chunks, size: chunkText}, bridge.Options{})
		defer end()
		var said strings.Builder
		for said.Len() == 0 && f.result == "" {
			said.WriteString(f.read())
		}
		time.Sleep(time.Hour) // the editor is busy
		synctest.Wait()
		if said := f.said.Load(); said == 0 || said > inFlight {
			t.Errorf("the agent got rid of %d events while nobody read; %d fit into the buffers", said, inFlight)
		}
		if grown := heap() - before; grown > flat {
			t.Errorf("the bridge holds %d KiB for an editor that does not read", grown>>10)
		}
		for f.result == "" {
			said.WriteString(f.read())
		}
		text := said.String()
		for n := range len(text) / chunkText {
			if text[n*chunkText:(n+1)*chunkText] != numbered(n, chunkText) {
				t.Fatalf("chunk %d is missing, or not in its place", n)
			}
		}
		must.Equal(t, f.result, `{"stopReason":"end_turn"}`)
		must.Equal(t, len(text), chunks*chunkText, "bytes of text are shown")
	})
}

// TestLargeStream: the memory of a turn does not depend on how much the agent says.
func TestLargeStream(t *testing.T) {
	chunks := *pressure << 20 / largeText
	if testing.Short() {
		chunks /= 4
	}
	synctest.Test(t, func(t *testing.T) {
		f, end := newFlood(t, &floodAgent{chunks: chunks, size: largeText}, bridge.Options{})
		defer end()
		var most, first int64
		shown, looks := 0, 0
		for f.result == "" {
			shown += len(f.read())
			if shown>>23 > looks { // each 8 MiB
				looks = shown >> 23
				if now := heap(); first == 0 {
					first = now
				} else {
					most = max(most, now-first)
				}
			}
		}
		must.Equal(t, shown, chunks*largeText, "bytes of text are shown")
		if most > flat {
			t.Errorf("memory grew by %d KiB over %d MiB", most>>10, *pressure)
		}
		t.Logf("%d MiB of text: memory grew by %d KiB", *pressure, most>>10)
	})
}

// TestMaxEventsPerSecond: an editor that wants so many lines a second gets no more, and all of the text.
func TestMaxEventsPerSecond(t *testing.T) {
	const chunks, most = 300, 20
	synctest.Test(t, func(t *testing.T) {
		f, end := newFlood(t, &floodAgent{chunks: chunks, size: chunkText, pause: 10 * time.Millisecond}, bridge.Options{MaxEventsPerSecond: most})
		defer end()
		began, lines, shown := time.Now(), 0, 0
		for ; f.result == ""; lines++ {
			shown += len(f.read())
		}
		must.Equal(t, shown, chunks*chunkText, "bytes of text are shown")
		if limit := most * (int(time.Since(began)/time.Second) + 1); lines > limit {
			t.Errorf("%d lines, %d are allowed", lines, limit)
		}
	})
}

// heap is what is in use, after a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

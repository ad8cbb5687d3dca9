package bench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A fakeWire answers a client without a network: first the card, then an endless
// stream. If it fits, each Read of the body returns one write of the script.
type fakeWire struct {
	script *script
	frames [][]byte
	next   int
	left   []byte // of a frame that did not fit
}

func newFakeWire(version string, payloads [][]byte, perRead int) *fakeWire {
	w := &fakeWire{script: newScript(version, payloads, 1, 1)}
	for i := 0; i+perRead <= len(payloads); i += perRead {
		var b []byte
		for _, p := range payloads[i : i+perRead] {
			b = fmt.Appendf(b, "data: %s\n\n", p)
		}
		w.frames = append(w.frames, b)
	}
	return w
}

func (w *fakeWire) RoundTrip(req *http.Request) (*http.Response, error) {
	return w.answer(req, readerFunc(w.read))
}

// answer answers a request: a message with a stream that begins a task and goes on
// with rest.
func (w *fakeWire) answer(req *http.Request, rest io.Reader) (*http.Response, error) {
	r := &http.Response{StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Request: req}
	if req.Body == nil {
		r.Header.Set("Content-Type", "application/json")
		r.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(w.script.card, "http://agent.invalid/")))
		return r, nil
	}
	_, _ = io.Copy(io.Discard, req.Body)
	r.Header.Set("Content-Type", "text/event-stream")
	begin := "data: " + w.script.begin + "\n\n"
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader(begin), rest))
	return r, nil
}

func (w *fakeWire) read(b []byte) (int, error) {
	if len(w.left) == 0 {
		w.left = w.frames[w.next%len(w.frames)]
		w.next++
	}
	n := copy(b, w.left)
	w.left = w.left[n:]
	return n, nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// A hotPath is an event's way through the bridge: framed, decoded, folded, written for
// the editor. Around it, for each batch, there are only system calls and hand-overs.
type hotPath struct {
	stream *transport.Stream
	fold   *mapping.Fold
	spell  func([]byte, []mapping.Step) []byte
	steps  []mapping.Step
	out    []byte
}

func newHotPath(tb testing.TB, w *fakeWire, spell func([]byte, []mapping.Step) []byte) *hotPath {
	client := must.Get(transport.NewClient("http://agent.invalid/", &transport.ClientOptions{RoundTripper: w}))(tb)
	tb.Cleanup(func() { client.Close() })
	stream := must.Get(client.Send(context.Background(), &a2a.Outgoing{ID: "m", Parts: []a2a.OutPart{{Text: "go"}}}))(tb)
	tb.Cleanup(func() { stream.Close() })
	return &hotPath{stream: stream, fold: mapping.NewFold(), spell: spell}
}

func (h *hotPath) step(tb testing.TB) {
	events := must.Get(h.stream.Read())(tb)
	h.steps = h.steps[:0]
	for i := range events {
		h.steps = h.fold.Event(shown.Live, &events[i], h.steps)
	}
	h.out = h.out[:0]
	for piece, rest := spell.Piece(h.steps); len(piece) > 0; piece, rest = spell.Piece(rest) {
		h.out = h.spell(h.out, piece)
	}
}

// spellings are how the editor protocols spell steps.
func spellings() map[string]func([]byte, []mapping.Step) []byte {
	acp := spell.ACP{Session: "6ba7b810-9dad-11d1-80b4-00c04fd430c8", Cwd: "/home/dev/project"}
	lines := spell.Lines{Request: []byte("1")}
	return map[string]func([]byte, []mapping.Step) []byte{"acp": acp.Append, "lines": lines.Append}
}

// hotCases are the frequent events. allocs is the number of allocations that each costs
// today, so that a rise fails. The project's limit is two.
var hotCases = []struct {
	name    string
	version string
	event   func(int, string) []byte
	breaks  bool
	allocs  float64
}{
	{"artifact-1.x", "1.0", artifactV1, false, 0},
	{"artifact-1.x-code", "1.0", artifactV1, true, 0},
	{"status-1.x", "1.0", statusV1, false, 0},
	{"interleaved-1.x", "1.0", interleaved, false, 0},
	{"artifact-0.3", "0.3", artifactV03, false, 0},
	{"status-0.3", "0.3", statusV03, false, 0},
	{"status-0.3-code", "0.3", statusV03, true, 0},
}

// TestAllocations checks the exact number of allocations for a text event, from the
// bytes of its frame to the editor's line.
func TestAllocations(t *testing.T) {
	for _, c := range hotCases {
		for name, spell := range spellings() {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				h := newHotPath(t, newFakeWire(c.version, small(c.event, ringSize, c.breaks), 1), spell)
				for range 2 * ringSize { // buffers grow to their size, what is learned is learned
					h.step(t)
				}
				switch got := testing.AllocsPerRun(10*ringSize, func() { h.step(t) }); {
				case got > c.allocs:
					t.Errorf("%v allocations for each event, not %v: say in the commit why there are more, and raise the number here", got, c.allocs)
				case got < c.allocs:
					t.Logf("%v allocations for each event, not %v: lower the number here, so that it stays so", got, c.allocs)
				}
			})
		}
	}
}

// TestNewItemAllocations checks how many allocations an event costs whose item is new, the growth of what is kept
// of all items among them.
func TestNewItemAllocations(t *testing.T) {
	const n = 2000
	limits := map[string]float64{"a new message each": 2.5, "a new artifact each": 5.5, "thoughts": 4.5}
	for _, k := range kinds() {
		limit, ok := limits[k.name]
		if !ok {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			var events [][]byte
			for i := range 3 * n {
				events = append(events, k.event(i, text(i, textSize, false)))
			}
			h := newHotPath(t, newFakeWire(k.version, events, 1), spellings()["acp"])
			got := testing.AllocsPerRun(1, func() { // the first run is not counted
				for range n {
					h.step(t)
				}
			}) / n
			if got > limit || got < limit-1 {
				t.Errorf("%.2f allocations for each event: the limit is %v, and no more than 1 above them", got, limit)
			}
		})
	}
}

// TestLargeAllocations: an event whose text is too long for a template allocates nothing
// as large as the text.
func TestLargeAllocations(t *testing.T) {
	const size, n = 100 << 10, 100
	payloads := [][]byte{artifactV1(0, text(0, size, true)), artifactV1(1, text(1, size, true))}
	h := newHotPath(t, newFakeWire("1.0", payloads, 1), spellings()["acp"])
	for range n {
		h.step(t)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		h.step(t)
	}
	runtime.ReadMemStats(&after)
	got := (after.TotalAlloc - before.TotalAlloc) / n
	must.True(t, got <= size/10, got, "bytes for each event")
}

// TestHotPath checks that the measured lines have the text.
func TestHotPath(t *testing.T) {
	for _, c := range hotCases {
		h := newHotPath(t, newFakeWire(c.version, small(c.event, ringSize, c.breaks), 1), spellings()["acp"])
		h.step(t) // the task
		for i := range 3 {
			h.step(t)
			want := quoted(text(i, textSize, c.breaks))
			must.True(t, bytes.Contains(h.out, []byte(want)), c.name, i, h.out, want)
		}
	}
}

// statusV1 is an A2A 1.x status update with a message.
func statusV1(i int, text string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":2,"result":{"statusUpdate":{"taskId":"%s","contextId":"%s","status":{"state":"TASK_STATE_WORKING",`+
		`"message":{"messageId":"%s","role":"ROLE_AGENT","parts":[{"text":%s}]},"timestamp":"%s"}}}}`,
		taskID, contextID, messageID, quoted(text), clock(i))
}

// artifactV03 is an A2A 0.3 artifact update.
func artifactV03(i int, text string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":45,"result":{"kind":"artifact-update","taskId":"%s","contextId":"%s","artifact":{"artifactId":"%s",`+
		`"parts":[{"kind":"text","text":%s}]},"append":true,"lastChunk":false,"metadata":{"timestamp":"%s"}}}`,
		taskID, contextID, artifactID, quoted(text), clock(i))
}

var chunkCount = flag.Int("chunks", 100, "how many TestChunks plays")

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestChunks plays chunks of text, one a write, through the whole bridge, with its journal. The
// repository's TestPasses counts which functions it calls for each.
func TestChunks(t *testing.T) {
	wire, left := newFakeWire("1.0", small(artifactV1, ringSize, false), 1), *chunkCount
	chunks := readerFunc(func(b []byte) (int, error) {
		if left == 0 {
			return 0, io.EOF
		}
		left--
		return wire.read(b)
	})
	s := must.Get(store.Open(t.TempDir()))(t)
	network := roundTrip(func(r *http.Request) (*http.Response, error) {
		return wire.answer(r, io.MultiReader(chunks, strings.NewReader("data: "+wire.script.end+"\n\n")))
	})
	e := must.Get(editor.Start(&editor.Options{URL: "http://agent.invalid/", Store: s, Network: network}))(t)
	turn := e.Prompt("go")
	<-turn.Done
	must.Fail(t, e.Close(), "")
	shown := 0
	for _, x := range turn.Shown {
		if x.Kind == editor.Text {
			shown++
		}
	}
	if shown != *chunkCount || turn.Stop != "end_turn" {
		t.Errorf("%d of %d chunks are shown, %s %s", shown, *chunkCount, turn.Stop, turn.Err)
	}
}

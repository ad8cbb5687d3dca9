package trace

import (
	"crypto/rand"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

const (
	flushSize = 256 << 10 // how much is formatted before it is written
	// maxKnown bounds each map: requests that await their reply, lines whose events are
	// known, texts in pieces.
	maxKnown = 4096
)

// A worker turns items into records. It belongs to the Recorder's goroutine.
type worker struct {
	out   io.Writer
	enc   *encoder
	opts  *Options
	start time.Time
	now   time.Time // of the current item
	runID string    // of the run

	stamped time.Time // what stamp says
	stamp   []byte

	records int64 // that were begun, in all files
	buf     []byte
	failed  error
	pending [2]map[string]string // methods of open requests, by ID: the editor's, ours
	seen    observed
	tails   map[uint64]*textTail // of the editor's wire, by the hash of the session
	tail    *textTail            // of the session that was written to last
	open    map[int64]*exchange
}

func newWorker(out io.Writer, opts *Options, now time.Time) *worker {
	w := &worker{out: out, enc: newEncoder(opts), opts: opts, start: now, now: now, runID: rand.Text(), tails: map[uint64]*textTail{},
		open: map[int64]*exchange{}, seen: observed{on: opts.Mode == "bridge", came: map[uint64]came{}, from: map[uint64][]EventRef{}},
		pending: [2]map[string]string{{}, {}}}
	w.startRecord(now)
	return w
}

// run writes items until the queue is closed, and then the end. It returns the first error,
// after which it writes nothing more: a gap in the trace would mislead.
func (w *worker) run(q *queue) error {
	var items []item
	var arena []byte
	w.flush()
	for {
		var more bool
		if items, arena, more = q.take(items, arena); !more {
			break
		}
		for i := range items {
			w.now = items[i].at
			w.item(&items[i], arena[items[i].from:items[i].to])
			if len(w.buf) >= flushSize {
				w.flush()
			}
		}
		w.flush()
		w.rotateIfFull()
		clear(items) // drop what they point at
		if cap(arena) > 2*maxQueue {
			arena = nil
		}
	}
	for _, n := range slices.Sorted(maps.Keys(w.open)) {
		w.end(w.open[n], w.now, &ending{reason: EndOpen})
	}
	w.begin(w.now, WireBridge, "", KindStop)
	w.number("records", w.records)
	w.finish()
	w.flush()
	return w.failed
}

func (w *worker) item(it *item, b []byte) {
	if it.kind < itemTaken { // the others make no record
		w.enc.mask.learnSecrets()
	}
	switch it.kind {
	case itemLine:
		w.editorLine(it, b)
	case itemStderr:
		w.begin(it.at, WireEditor, DirOut, KindStderr)
		p := wholePayload(b)
		l := w.enc.outline(p, nil)
		w.buf = w.enc.payload(w.buf, p, &l, nil, modeOpen)
		w.finish()
	case itemDecision:
		w.decision(it.at, it.more.(*Decision))
	case itemTaken:
		w.seen.takes(it.x, it.hash)
	case itemBecame:
		w.seen.becomes(it.hash, it.more.([]int64))
	default:
		w.agentItem(it, b)
	}
}

// begin begins a record; finish ends it. What appends a member stands between them.
func (w *worker) begin(at time.Time, wire, dir, kind string) {
	w.records++
	b := append(w.buf, `{"n":`...)
	b = strconv.AppendInt(b, w.records, 10)
	b = append(b, w.stampOf(at)...)
	b = append(append(append(b, `,"wire":"`...), wire...), '"')
	if dir != "" {
		b = append(append(append(b, `,"dir":"`...), dir...), '"')
	}
	w.buf = append(append(append(b, `,"kind":"`...), kind...), '"')
}

// stampOf returns the members that say the time. What has come at once it formats once.
func (w *worker) stampOf(at time.Time) []byte {
	if at != w.stamped || w.stamp == nil {
		b := at.UTC().AppendFormat(append(w.stamp[:0], `,"t":"`...), "2006-01-02T15:04:05.000000Z")
		w.stamped, w.stamp = at, strconv.AppendInt(append(b, `","us":`...), at.Sub(w.start).Microseconds(), 10)
	}
	return w.stamp
}

func (w *worker) finish() { w.buf = append(w.buf, "}\n"...) }

func (w *worker) member(name string) {
	w.buf = append(append(append(w.buf, `,"`...), name...), `":`...)
}

// text appends a string member, masked, unless it is empty.
func (w *worker) text(name, value string) {
	if value != "" {
		w.buf = rawjson.AppendField(w.buf, name, w.enc.mask.text(value))
	}
}

func (w *worker) number(name string, n int64) {
	if n != 0 {
		w.member(name)
		w.buf = strconv.AppendInt(w.buf, n, 10)
	}
}

// raw appends a member that is JSON, masked, unless it is none or too long for a name.
func (w *worker) raw(name, raw string) {
	if len(raw) <= maxName && isDocument([]byte(raw)) {
		w.member(name)
		w.buf = append(w.buf, w.enc.mask.idOrMethod([]byte(raw))...)
	}
}

func (w *worker) flush() {
	if w.failed == nil && len(w.buf) > 0 {
		_, w.failed = w.out.Write(w.buf)
	}
	if cap(w.buf) > 4*flushSize {
		w.buf = nil
	}
	w.buf = w.buf[:0]
}

// rotateIfFull moves a full file aside, and begins the next with a start record.
func (w *worker) rotateIfFull() {
	d, ok := w.out.(*diskFile)
	if !ok || w.failed != nil {
		return
	}
	moved, err := d.rotate()
	if w.failed = err; moved {
		w.startRecord(w.now)
	}
}

// startRecord writes the first record of a file.
func (w *worker) startRecord(at time.Time) {
	w.begin(at, WireBridge, "", KindStart)
	w.number("format", Format)
	w.text("program", "a2astdio")
	w.text("version", w.opts.Version)
	w.text("system", runtime.GOOS+"/"+runtime.GOARCH+" "+runtime.Version())
	w.text("mode", w.opts.Mode)
	w.number("limit", int64(w.enc.limit))
	if w.opts.Redact {
		w.buf = append(w.buf, `,"redact":true`...)
	}
	w.text("run", w.runID)
	w.finish()
}

// editorLine records a line of the editor's wire.
func (w *worker) editorLine(it *item, b []byte) {
	p := wholePayload(b)
	var from []EventRef
	ours, dir := 0, DirIn
	if it.toEditor {
		ours, dir = 1, DirOut
	}
	if len(b) > w.enc.limit {
		long := pieces{limit: w.enc.limit}
		long.add(b)
		p = long.payload
	} else if it.toEditor && len(w.seen.from) > 0 {
		hash := lineHash(b)
		from = w.seen.from[hash]
		delete(w.seen.from, hash)
	}
	var s *textTail
	if it.toEditor {
		s = w.tail
	}
	l := w.enc.outline(p, s)
	if it.toEditor {
		session := lineHash(p.b[l.session.from:l.session.to])
		if s = w.tails[session]; s == nil {
			s = new(textTail)
			remember(w.tails, session, s)
		}
		w.tail = s
	}
	w.begin(it.at, WireEditor, dir, KindMessage)
	method := string(p.b[l.method.from:l.method.to])
	if id := string(p.b[l.id.from:l.id.to]); id != "" && len(id) <= maxName {
		w.raw("id", id)
		if method != "" {
			remember(w.pending[ours], id, method[:min(len(method), maxName)])
		} else if method = w.pending[1-ours][id]; method != "" {
			delete(w.pending[1-ours], id)
		}
	}
	w.raw("method", method)
	w.refs(from)
	mode := modeOpen
	if strings.Contains(method, "ushNotificationConfig") {
		mode = modePush
	}
	w.enc.mask.fromClient = !it.toEditor
	w.buf = w.enc.payload(w.buf, p, &l, s, mode)
	w.enc.mask.fromClient = false
	w.finish()
}

// remember adds to a map of at most maxKnown. It empties a full map, which costs a few names.
func remember[K comparable, V any](m map[K]V, key K, v V) {
	if len(m) >= maxKnown {
		clear(m)
	}
	m[key] = v
}

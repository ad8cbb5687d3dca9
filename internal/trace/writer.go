package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// format is the number of the trace's format, for whoever reads it.
	format = 1
	// defaultLimit is how much of a line, a body or an event is recorded. Whole
	// files pass in both directions as base64; a megabyte holds any
	// conversation, and keeps a trace of them readable.
	defaultLimit = 1 << 20
)

// Options are what a trace must not hold, and how it is written. Zero values are
// good.
type Options struct {
	// Header holds what the user gave as headers: their values are credentials,
	// wherever they turn up.
	Header http.Header
	// Secrets are further values that must not be in the trace.
	Secrets []string
	// Limit is how many bytes of a line, a body or an event are recorded.
	Limit int
	// Version is the program's.
	Version string
	// Now is the clock; nil: [time.Now].
	Now func() time.Time
}

// A Writer records both wires. It is safe for concurrent use.
type Writer struct {
	mask      *masker
	limit     int
	now       func() time.Time
	exchanges atomic.Uint64

	mu     sync.Mutex
	out    io.Writer
	file   *os.File // nil if the writer is somebody else's
	failed bool
}

// New returns a Writer that records on out, which it does not close.
func New(out io.Writer, opts *Options) *Writer {
	if opts == nil {
		opts = &Options{}
	}
	w := &Writer{mask: newMasker(opts.Header, opts.Secrets), limit: opts.Limit, now: opts.Now, out: out}
	if w.limit <= 0 {
		w.limit = defaultLimit
	}
	if w.now == nil {
		w.now = time.Now
	}
	w.write(&record{Wire: "bridge", Event: "start", Format: format, Version: opts.Version})
	return w
}

// Create returns a Writer that records in a file. The file is new for each run:
// an old one of that name is emptied. Only its owner can read it, because what
// people talk about with an agent is their own affair.
func Create(path string, opts *Options) (*Writer, error) {
	// Appending, so that two processes that were given the same name mix their
	// lines and do not overwrite each other's.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		// An old file keeps its mode otherwise.
		if err := f.Chmod(0o600); err != nil {
			f.Close()
			return nil, fmt.Errorf("trace: %w", err)
		}
	}
	w := New(f, opts)
	w.file = f
	return w, nil
}

// Close ends the trace. Whatever passes later is not recorded.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = true
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	return f.Close()
}

// Tap records a line of the editor's wire: it is bridge.Options.Tap.
func (w *Writer) Tap(toEditor bool, line []byte) {
	r := &record{Wire: "editor", Dir: "in"}
	if toEditor {
		r.Dir = "out"
	}
	w.content(r, line, 0)
	w.write(r)
}

// A record is a line of the trace.
type record struct {
	Time     string              `json:"t"`
	Wire     string              `json:"wire"`
	Dir      string              `json:"dir,omitempty"`
	Exchange uint64              `json:"exchange,omitempty"`
	Event    string              `json:"event,omitempty"`
	Format   int                 `json:"format,omitempty"`
	Version  string              `json:"version,omitempty"`
	Method   string              `json:"method,omitempty"`
	URL      string              `json:"url,omitempty"`
	Status   int                 `json:"status,omitempty"`
	Header   map[string][]string `json:"header,omitempty"`
	Name     string              `json:"name,omitempty"`
	ID       string              `json:"id,omitempty"`
	Comment  string              `json:"comment,omitempty"`
	Message  json.RawMessage     `json:"message,omitempty"`
	Text     string              `json:"text,omitempty"`
	Bytes    int64               `json:"bytes,omitempty"`
	Cut      int64               `json:"cut,omitempty"`
	Millis   int64               `json:"ms,omitempty"`
	Error    string              `json:"error,omitempty"`
}

// content puts what passed, masked, into a record. cut is how many bytes of it
// the caller has left out already.
func (w *Writer) content(r *record, b []byte, cut int64) {
	if len(b) > w.limit {
		cut += int64(len(b) - w.limit)
		b = b[:w.limit]
	}
	r.Cut = cut
	switch {
	case len(b) == 0:
	case cut == 0 && json.Valid(b):
		r.Message = w.mask.json(b)
	case looksJSON(b):
		r.Text = w.mask.cutText(w.mask.text(string(w.mask.json(b))), cut > 0)
	default:
		r.Text = w.mask.cutText(w.mask.text(string(b)), cut > 0)
	}
}

// looksJSON reports whether b was meant to be JSON: cut off, say.
func looksJSON(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n\ufeff")
	return len(b) > 0 && (b[0] == '{' || b[0] == '[' || b[0] == '"')
}

// write writes a line at once. After an error nothing more is written: half a
// trace that looks whole would mislead.
func (w *Writer) write(r *record) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed {
		return
	}
	// Under the lock, so that times only grow.
	r.Time = w.now().UTC().Format(time.RFC3339Nano)
	if err := encoder.Encode(r); err != nil {
		return // a message that is no JSON after all
	}
	if _, err := w.out.Write(line.Bytes()); err != nil {
		w.failed = true
	}
}

// Package stdio is the editor's end of the bridge: newline-delimited JSON-RPC 2.0
// over two byte streams, as the library needs it to survive real editors. [Conn]
// says what it holds. [NewConn] makes one, which is an ObjectStream for
// sourcegraph/jsonrpc2.
//
// A Conn has one goroutine, the writer, and nothing else writes. It ends after [Conn.Close], or when a write
// fails. What it shares with those who send is under one mutex; ReadObject alone reads.
package stdio

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

const (
	// MaxLine is how long a line from the editor may be, without its newline; a longer one is
	// skipped, and answered with an error. A prompt carries
	// images and whole files as base64; the TypeScript SDK of ACP, the most
	// generous peer measured, ends at the same length.
	MaxLine = 32 << 20

	// maxOpen is how many requests of the editor may await their reply; one more is
	// answered with an error. An editor has a handful open; a script that has this many
	// has lost count.
	maxOpen = 1024

	// maxRefusals is how many of our own error replies may be in the outbox while an editor
	// sends bad lines and does not read. That of other replies is bounded by
	// maxOpen; without this one a stuck pipe of garbage would fill the memory.
	maxRefusals = 256
)

// errClosed is what writing fails with after [Conn.Close], or once the editor
// no longer takes what we write.
var errClosed = errors.New("editor: connection closed")

// Options are the limits of a [Conn], and who listens. Zero values and
// nil mean the defaults.
type Options struct {
	// MaxPerSecond is how many lines a second [Conn.Send] hands to the writer; 0: as
	// many as there are. Replies and requests do not wait.
	MaxPerSecond int
	// Tap sees every line without its newline, byte for byte, blank and bad ones too;
	// of a line longer than MaxLine it sees the first few KiB. Lines of one direction
	// come one after the other in the order of the wire, but both directions may call
	// at the same time. A line to the editor is seen before it is written, so that it
	// never comes after its answer. Tap must neither keep nor change the line; while it
	// runs, the connection waits.
	Tap func(toEditor bool, line []byte)
}

// A Conn carries newline-delimited JSON-RPC 2.0 over two byte streams. It is the
// [jsonrpc2.ObjectStream] that the library needs to survive real editors: no line can
// end the connection, ids come back byte for byte, replies that are still owed are
// written after the end of input, and reading never waits for writing, with one
// exception (see [Conn.ReadObject]).
//
// Lines reach stdout by one goroutine, the writer. Replies and our own requests go to an outbox
// that it empties, because the read loop must not wait; turns write by [Conn.Send], which
// does wait, so that a slow editor slows the turn and nothing else.
//
// A Conn closes neither of its streams, for they are its caller's.
type Conn struct {
	lines   *lineReader
	out     io.Writer
	tap     func(toEditor bool, line []byte)
	maxOpen int
	pause   time.Duration // between two batches; 0: there is none

	// Only ReadObject uses these.
	started bool // the first line, which may begin with a BOM, has been read
	handle  func(ID, string, json.RawMessage)

	inputDone  chan struct{}
	outputDone chan struct{}
	pool       sync.Pool   // of *batch
	blocked    atomic.Bool // the last write had to wait

	mu      sync.Mutex
	changed sync.Cond // of what follows
	outbox  outbox
	queued  int      // lines that have come to the outbox, and batches that the writer has taken
	written int      // of these
	batches []*batch // of Send, that wait for the writer, in order
	writing *batch   // that it has
	pausing bool     // the next batch has to wait
	open    int      // requests whose reply has not been written
	closing bool     // Close was called
	failure error    // of a write
}

var _ jsonrpc2.ObjectStream = (*Conn)(nil)

// NewConn returns a Conn that reads lines from r and writes lines to w.
// It starts the goroutine that writes, which ends after [Conn.Close] or when a
// write fails. A write that blocks for ever keeps it: nothing can interrupt a
// write to a pipe, other than the end of the process.
func NewConn(r io.Reader, w io.Writer, opts *Options) *Conn {
	if opts == nil {
		opts = &Options{}
	}
	s := &Conn{
		lines:      &lineReader{r: bufio.NewReaderSize(r, lineBuffer), max: MaxLine},
		out:        w,
		tap:        opts.Tap,
		maxOpen:    maxOpen,
		inputDone:  make(chan struct{}),
		outputDone: make(chan struct{}),
	}
	s.changed.L = &s.mu
	if opts.MaxPerSecond > 0 {
		s.pause = time.Second / time.Duration(opts.MaxPerSecond)
	}
	// Ends as the doc comment says: after Close, once the outbox is empty, or on
	// the first write that fails.
	go s.write()
	return s
}

// Handle has the editor's requests handled by f, in [Conn.ReadObject]. It is called before anything
// is read. id is "" for a notification, params are if there are none; these are as the editor wrote
// them, with members that come twice, or differ in case alone. (The library handles none: it would
// decode each three times and encode its params anew, which is a third of what the bridge
// adds between a prompt and its request.)
func (s *Conn) Handle(f func(id ID, method string, params json.RawMessage)) { s.handle = f }

// InputDone is closed at the end of input, also when reading failed. Everything
// that was read before has been returned by [Conn.ReadObject] then.
func (s *Conn) InputDone() <-chan struct{} { return s.inputDone }

// OutputDone is closed when a write failed: the editor is gone.
func (s *Conn) OutputDone() <-chan struct{} { return s.outputDone }

// Close ends the Conn: nothing more is accepted, and [Conn.ReadObject] returns
// [io.EOF]. It does not wait. What is in the outbox is still written if the editor takes
// it; [Conn.Flush], before or after, waits for that. A ReadObject that is blocked in a
// read of the input stays there until that read returns.
func (s *Conn) Close() error {
	s.change(func() {
		s.closing = true
		s.endLocked()
	})
	return nil
}

// closed reports whether Close was called. With wait it waits for that.
func (s *Conn) closed(wait bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for wait && !s.closing {
		s.changed.Wait()
	}
	return s.closing
}

// change changes what mu guards, and wakes all who wait for something of it.
func (s *Conn) change(by func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	by()
	s.changed.Broadcast()
}

// endLocked lets each Send return with an error, also that whose batch is being written.
func (s *Conn) endLocked() {
	if s.writing != nil {
		s.batches = append(s.batches, s.writing)
	}
	for _, b := range s.batches {
		b.done <- s.errClosedLocked()
	}
	s.writing, s.batches = nil, nil
}

// errClosedLocked returns why nothing can be written, or nil.
func (s *Conn) errClosedLocked() error {
	switch {
	case s.failure != nil:
		return fmt.Errorf("%w: writing to it: %v", errClosed, s.failure)
	case s.closing:
		return errClosed
	}
	return nil
}

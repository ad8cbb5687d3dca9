package trace

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// DefaultLimit is how large a line, a body or an event may be to be recorded
	// with all its bytes. Whole files pass in both directions as base64; a megabyte
	// holds any conversation, and keeps a trace of them readable.
	DefaultLimit = 1 << 20
	// FullLimit is the same for --trace-full: no peer of ours takes more.
	FullLimit = 64 << 20
	// headSize is how much is recorded of what is larger.
	headSize = 4 << 10
	// DefaultMaxFile is how large a file gets before it is put aside: what editors
	// can show, and a day of hard work.
	DefaultMaxFile = 256 << 20
)

// Options are what a trace must not hold, and how it is written. Zero values are
// good.
type Options struct {
	// Header holds what the user gave as headers: their values are credentials,
	// wherever they turn up.
	Header http.Header
	// Secrets are further values that must not be in the trace.
	Secrets []string
	// Later are those that become known while the program runs; nil: none.
	Later *Secrets
	// Limit is how large a line, a body or an event may be to be recorded whole;
	// 0: [DefaultLimit].
	Limit int
	// Redact leaves out what was said: of each text there is only its length.
	Redact bool
	// MaxFile is how large a file gets before it is put aside, under its name with
	// ".1" behind it, and another one begun; 0: [DefaultMaxFile], negative: never.
	MaxFile int64
	// Version is the program's. Mode is what it does: "bridge", "client", "proxy"
	// or "tap".
	Version, Mode string
	// Now is the clock; nil: [time.Now].
	Now func() time.Time
}

// A Recorder writes a trace. Its methods may be called from any goroutine; what
// they are given they copy. They wait only if the disk is megabytes behind.
//
// It has one goroutine, which masks, formats and writes; it is started with the
// Recorder and ended by Close.
type Recorder struct {
	q         *queue
	now       func() time.Time
	limit     int // see [Options.Limit]
	exchanges atomic.Int64
	ended     chan struct{}
	close     sync.Once
	err       error // of the goroutine; to be read when ended is closed
}

// New returns a Recorder that writes to out, which it does not close.
func New(out io.Writer, opts *Options) *Recorder {
	return start(plainFile{out}, opts)
}

// Create returns a Recorder that writes to a file. It is new for each run: an old
// one of that name is emptied. Only its owner can read it, because what people
// talk about with an agent is their own affair.
func Create(path string, opts *Options) (*Recorder, error) {
	if opts == nil {
		opts = &Options{}
	}
	f, err := createFile(path, opts.MaxFile)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	return start(f, opts), nil
}

func start(out file, opts *Options) *Recorder {
	if opts == nil {
		opts = &Options{}
	}
	r := &Recorder{q: newQueue(), now: opts.Now, limit: limitOf(opts), ended: make(chan struct{})}
	if r.now == nil {
		r.now = time.Now
	}
	began := r.now()
	// Ends when Close has closed the queue, and what is in it is written. The tables
	// of the masker are made there, too: a start does not wait for them.
	go func() {
		defer close(r.ended)
		r.err = newWorker(out, opts, began).run(r.q)
	}()
	return r
}

// Close writes what is left and ends the trace. What passes later is not recorded.
// It returns the error that ended the trace before, if one did: that of a disk
// that is full, say.
func (r *Recorder) Close() error {
	r.close.Do(r.q.close)
	<-r.ended
	if r.err != nil {
		return fmt.Errorf("trace: %w", r.err)
	}
	return nil
}

// Tap records a line of the editor's wire, without its newline: it is
// bridge.Options.Tap. Lines of one direction come one after the other.
func (r *Recorder) Tap(toEditor bool, line []byte) {
	r.q.addLong(r.now, item{kind: itemLine, toEditor: toEditor}, itemLinePart, line)
}

// Stderr records a line that a command which is listened to wrote to stderr.
func (r *Recorder) Stderr(line []byte) {
	r.q.add(r.now, item{kind: itemStderr, toEditor: true}, line[:min(len(line), maxPiece)])
}

func limitOf(opts *Options) int {
	if opts.Limit <= 0 {
		return DefaultLimit
	}
	return opts.Limit
}

func newRun() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func system() string { return runtime.GOOS + "/" + runtime.GOARCH + " " + runtime.Version() }

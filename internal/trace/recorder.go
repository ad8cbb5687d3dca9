package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxPayload is the largest line, body or event that is recorded completely. Whole files
	// pass in both directions as base64, and no peer of ours takes more.
	maxPayload = 64 << 20
	// headSize is how much is recorded of anything larger.
	headSize = 4 << 10
	// maxFile is the size at which a file is moved aside: editors can still show it, and
	// it holds a day of hard work.
	maxFile = 256 << 20
)

// Options tell what a trace must not hold, and how it is written. Zero values are good.
type Options struct {
	// Header has the user's headers. Their values are credentials, and masked everywhere.
	Header http.Header
	// Secrets are further values to mask.
	Secrets []string
	// Later are values that become known while the program runs; nil: none.
	Later *Secrets
	// URLs are the agent's, as the user gave them: their paths are shown. Those in its card
	// become known by it.
	URLs []string
	// Limit is the largest line, body or event that is recorded completely; 0: 64 MiB. Tests
	// lower it.
	Limit int
	// Redact replaces each text of the conversation by its length.
	Redact bool
	// Version is the program's. Mode is what the program does: "bridge", "client", "proxy"
	// or "tap".
	Version, Mode string
}

// A Recorder writes a trace. Its methods may be called from any goroutine, and copy
// their arguments. They wait only if the disk is megabytes behind.
//
// One goroutine masks, formats and writes. It starts with the Recorder, and Close ends
// it.
type Recorder struct {
	q         *queue
	limit     int // see [Options.Limit]
	exchanges atomic.Int64
	writing   sync.WaitGroup
	err       error // of the goroutine; only to be read after writing.Wait
}

// Create returns a Recorder that writes to a file. It empties an existing file. Only
// the file's owner can read it: conversations with an agent are private.
func Create(path string, opts *Options) (*Recorder, error) {
	d := &diskFile{path: path, max: maxFile}
	if err := d.open(); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	if info, err := d.f.Stat(); err != nil || !info.Mode().IsRegular() {
		d.max = math.MaxInt64 // a pipe or a device cannot be moved
	} else if err := d.f.Chmod(0o600); err != nil { // an existing file would keep its mode
		d.f.Close()
		return nil, fmt.Errorf("trace: %w", err)
	}
	return New(d, opts), nil
}

// A diskFile is a trace's file. Each write is one system call.
type diskFile struct {
	path      string
	f         *os.File
	size, max int64
}

// open empties the file. Append mode: if two processes have the same one, their lines
// mix, and none is overwritten.
func (d *diskFile) open() (err error) {
	d.f, err = os.OpenFile(d.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	d.size = 0
	return err
}

func (d *diskFile) Write(b []byte) (int, error) {
	n, err := d.f.Write(b)
	d.size += int64(n)
	return n, err
}

// rotate moves a full file aside, over the one before, begins it anew, and reports whether it
// did. Windows cannot move one that somebody has open: then the trace ends.
func (d *diskFile) rotate() (moved bool, err error) {
	if d.size < d.max {
		return false, nil
	}
	if err := errors.Join(d.f.Close(), os.Rename(d.path, d.path+".1")); err != nil {
		return false, err
	}
	return true, d.open()
}

// New returns a Recorder that writes to out, which it does not close.
func New(out io.Writer, opts *Options) *Recorder {
	r := &Recorder{q: newQueue(), limit: cmp.Or(opts.Limit, maxPayload)}
	began := time.Now()
	// Ends when Close has closed the queue and all of it is written. It also makes the
	// masker's tables, so that a start does not wait for them.
	r.writing.Go(func() {
		r.err = newWorker(out, opts, began).run(r.q)
		if d, ok := out.(*diskFile); ok {
			r.err = cmp.Or(r.err, d.f.Close())
		}
	})
	return r
}

// Close writes the rest and ends the trace. Later bytes are not recorded. It returns
// the error that ended the trace early, such as a full disk.
func (r *Recorder) Close() error {
	r.q.close()
	r.writing.Wait()
	if r.err != nil {
		return fmt.Errorf("trace: %w", r.err)
	}
	return nil
}

// Tap records a line of the editor's wire, without its newline; it is meant for
// bridge.Options.Tap. Lines of one direction must come one after the other.
func (r *Recorder) Tap(toEditor bool, line []byte) {
	r.q.add(item{kind: itemLine, toEditor: toEditor}, line)
}

// Stderr records a line that a tapped command wrote to stderr.
func (r *Recorder) Stderr(line []byte) {
	r.q.add(item{kind: itemStderr, toEditor: true}, line[:min(len(line), r.limit)])
}

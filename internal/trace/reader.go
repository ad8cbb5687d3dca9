package trace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

const (
	// maxNotes is how many notes are kept of one trace. A file of garbage would
	// give one for each line.
	maxNotes = 20
	// pollTime is how often a file that is followed is looked at.
	pollTime = 100 * time.Millisecond
)

// A Reader reads a trace record by record, in memory that does not grow with it.
// What is wrong with a trace does not end it: it is noted, and what can be read is.
type Reader struct {
	path   string // of the newest part; "" for what is no file
	file   *os.File
	rest   []*os.File // parts that come after
	files  *File
	lines  lineReader
	record Record
	at     Position

	line    int64 // its number in its part
	last    int64 // the number of the last record
	run     string
	raw     []byte // the record's line
	ahead   bool   // the record has not been returned yet
	any     bool   // a record has been read
	stopped bool
	torn    bool // the last line is not whole
	notes   []string
	more    int // notes that were not kept
}

// A Position is where a record is: see [Reader.File].
type Position struct {
	Part   int
	Offset int64
	Length int
}

// Open opens the trace in a file, "-" being stdin: with the part before it, if
// that was put aside by the same run.
func Open(path string, stdin io.Reader) (*Reader, error) {
	if path == "-" {
		return NewReader(stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	r := &Reader{path: path, file: f, files: &File{}}
	run, part := headOf(f)
	if part > 1 {
		aside, err := os.Open(asideName(path))
		if err == nil {
			if before, _ := headOf(aside); before == run {
				r.file, r.rest = aside, []*os.File{f}
			} else {
				aside.Close()
			}
		}
	}
	for _, part := range append([]*os.File{r.file}, r.rest...) {
		r.files.add(part)
	}
	r.lines.src = r.file
	return r, r.first()
}

// NewReader reads the trace that src is.
func NewReader(src io.Reader) (*Reader, error) {
	r := &Reader{files: &File{}}
	r.lines.src = src
	return r, r.first()
}

// headOf reads what the first line of a part says, and goes back.
func headOf(f *os.File) (run string, part int) {
	line, _ := bufio.NewReaderSize(f, 4<<10).ReadSlice('\n')
	var head Record
	if head.Decode(bytes.TrimSpace(line)) == nil {
		run, part = head.Run, head.Part
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", 0
	}
	return run, part
}

// maxGarbage is how many lines that are no records may come before the first.
const maxGarbage = 1000

// first reads the first record, and refuses what is no trace at all.
func (r *Reader) first() error {
	_, err := r.read()
	r.ahead = err == nil
	switch {
	case err != nil && err != io.EOF:
		r.Close()
		return fmt.Errorf("trace: %w", err)
	case !r.any && (r.line > 0 || r.lines.to > r.lines.from):
		r.Close()
		return errors.New("trace: this file is no trace that a2astdio has written")
	}
	return nil
}

// Next returns the next record. It is valid until the call after. The error is
// io.EOF at the end, after which Next may be called again: more may have come.
func (r *Reader) Next() (*Record, error) {
	if r.ahead {
		r.ahead = false
		return &r.record, nil
	}
	return r.read()
}

func (r *Reader) read() (*Record, error) {
	for {
		found, err := r.lines.next()
		r.torn = false
		switch {
		case err == io.EOF && len(r.rest) > 0:
			r.nextPart()
			continue
		case err != nil:
			return nil, err
		case found.long:
			r.line++
			r.note("line %d is longer than %d MB and is left out", r.line, maxLine>>20)
			if !found.whole {
				return nil, io.EOF
			}
			continue
		}
		bad := r.record.Decode(bytes.TrimSuffix(found.b, []byte{'\r'}))
		if bad != nil && !found.whole && len(r.rest) == 0 {
			r.torn = true // still being written, or cut off
			return nil, io.EOF
		}
		if !found.whole {
			r.lines.from, r.lines.scan = r.lines.to, r.lines.to
		}
		r.line++
		if bad != nil {
			if !r.any && r.line > maxGarbage {
				return nil, io.EOF
			}
			if len(bytes.TrimSpace(found.b)) > 0 {
				r.note("line %d is no record and is left out", r.line)
			}
			continue
		}
		r.any, r.raw = true, found.b
		r.at.Offset, r.at.Length = found.offset, len(found.b)
		if r.check() {
			return &r.record, nil
		}
	}
}

// check looks at what a record says of the trace, and reports whether it is to be
// shown.
func (r *Reader) check() bool {
	rec := &r.record
	switch {
	case rec.Kind == KindStart:
		if rec.Format > Format && rec.Part <= 1 {
			r.note("this trace has format %d, and this program knows %d: what is known of it is shown", rec.Format, Format)
		}
		if r.run != "" && rec.Run != r.run {
			r.note("another run begins at line %d: two processes have written to this file", r.line)
		}
		if r.run == "" && rec.Part > 1 {
			r.note("the beginning is gone: this is part %d, and what was before was put aside and replaced", rec.Part)
		}
		if rec.Run != r.run || rec.N > 0 {
			r.last = rec.N
		}
		again := rec.Part > 1 && rec.Run == r.run
		r.run, r.stopped = rec.Run, false
		if r.last == 0 {
			r.last = -1 // whatever number comes first
		}
		return !again
	case rec.N != r.last+1 && r.last >= 0:
		r.note("records %d to %d are missing", r.last+1, rec.N-1)
	}
	r.last = rec.N
	r.stopped = rec.Kind == KindStop
	return true
}

// nextPart goes on with the part that was written after.
func (r *Reader) nextPart() {
	if !r.files.kept {
		r.file.Close()
	}
	r.file, r.rest = r.rest[0], r.rest[1:]
	r.lines = lineReader{src: r.file, buf: r.lines.buf}
	r.line = 0
	r.at.Part++
}

func (r *Reader) note(format string, args ...any) {
	if len(r.notes) == maxNotes {
		r.more++
		return
	}
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// Position is where the record is that Next returned last.
func (r *Reader) Position() Position { return r.at }

// Line is the line of the record that Next returned last, without its newline. It
// is valid as long as the record is.
func (r *Reader) Line() []byte { return r.raw }

// Notes says what was wrong with what was read so far.
func (r *Reader) Notes() []string {
	notes := append([]string(nil), r.notes...)
	if r.more > 0 {
		notes = append(notes, fmt.Sprintf("and so on: %d notes more", r.more))
	}
	if r.torn {
		notes = append(notes, "the last line is cut off: the program was ended in the middle of it, or is still writing")
	}
	return notes
}

// Stopped reports whether the trace was closed, and not left behind by a process
// that was killed, or is still running.
func (r *Reader) Stopped() bool { return r.stopped }

// Wait waits until there may be more than at the last io.EOF, in a file that
// somebody writes. It goes on with the new file when the old one is put aside, or
// was begun anew. It returns ctx's error when that ends.
func (r *Reader) Wait(ctx context.Context) error {
	timer := time.NewTimer(pollTime)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	if r.path == "" {
		return io.EOF
	}
	now, err := os.Stat(r.path)
	if err != nil {
		return nil // it is being put aside
	}
	is, err := r.file.Stat()
	switch {
	case err == nil && os.SameFile(now, is) && now.Size() >= r.lines.offset:
		return nil
	case err == nil && os.SameFile(now, is): // begun anew
		if _, err := r.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("trace: %w", err)
		}
		r.lines = lineReader{src: r.file}
		r.line = 0
		return nil
	}
	// Put aside: what is left of it comes first.
	next, err := os.Open(r.path)
	if err != nil {
		return nil
	}
	r.rest = append(r.rest, next)
	r.files.add(next)
	return nil
}

// Close closes the files, unless File has been called.
func (r *Reader) Close() error {
	if r.files.kept {
		return nil
	}
	var errs []error
	if r.file != nil {
		errs = append(errs, r.file.Close())
	}
	for _, f := range r.rest {
		errs = append(errs, f.Close())
	}
	r.file, r.rest = nil, nil
	return errors.Join(errs...)
}

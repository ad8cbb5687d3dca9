package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"time"
)

const (
	// maxNotes bounds the notes on one trace: a file of garbage would give one for each
	// line.
	maxNotes = 20
	// pollTime is the interval of looking at a followed file.
	pollTime = 100 * time.Millisecond
)

// A Reader reads a trace record by record, in constant memory. A fault in a trace does
// not end it: the Reader notes the fault, and reads what it can.
type Reader struct {
	file    *os.File // nil if it reads no file
	hasFile bool     // there is a File, which closes it
	lines   lineReader
	record  Record
	at      Position

	line      int64 // its number
	last      int64 // the number of the last record
	run       string
	raw       []byte // the record's line
	unread    bool   // the record has not been returned yet
	anyRecord bool   // a record has been read
	torn      bool   // the last line is incomplete
	notes     []string
}

// A Position is the place of a record: see [Reader.File].
type Position struct {
	Offset int64
	Length int
}

// Open opens the trace in a file; "-" is stdin. A nil stdin is none, for what needs a file: then
// "-" is a file's name.
func Open(path string, stdin io.Reader) (*Reader, error) {
	if path == "-" && stdin != nil {
		return NewReader(stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	r := &Reader{file: f, lines: newLineReader(f)}
	return r, r.first()
}

// NewReader reads a trace from src.
func NewReader(src io.Reader) (*Reader, error) {
	r := &Reader{lines: newLineReader(src)}
	return r, r.first()
}

// maxGarbage bounds the lines before the first record.
const maxGarbage = 1000

// first reads the first record, which Next returns then, and refuses a file that is no trace.
// An empty one may become one.
func (r *Reader) first() error {
	_, err := r.read()
	r.unread = err == nil
	switch {
	case err != nil && err != io.EOF:
		r.Close()
		return fmt.Errorf("trace: %w", err)
	case !r.anyRecord && (r.line > 0 || r.lines.size > 0):
		r.Close()
		return errors.New("trace: this file is no trace that a2astdio has written")
	}
	return nil
}

// Next returns the next record, valid until the next call. The error is io.EOF at the
// end; then Next may be called again, as more may have come.
func (r *Reader) Next() (*Record, error) {
	if r.unread {
		r.unread = false
		return &r.record, nil
	}
	return r.read()
}

// All yields the records up to the end of what there is. An error is the last that it
// yields, with an empty record.
func (r *Reader) All() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for {
			record, err := r.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				record = &Record{}
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

func (r *Reader) read() (*Record, error) {
	for {
		found, err := r.lines.next()
		r.torn = false
		switch {
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
		ok := r.record.decode(bytes.TrimSuffix(found.b, []byte{'\r'}))
		if !ok && !found.whole {
			r.torn = true // still being written, or cut off
			return nil, io.EOF
		}
		if !found.whole {
			r.lines.consume()
		}
		r.line++
		if !ok {
			if !r.anyRecord && r.line > maxGarbage {
				return nil, io.EOF
			}
			if len(bytes.TrimSpace(found.b)) > 0 {
				r.note("line %d is no record and is left out", r.line)
			}
			continue
		}
		r.anyRecord, r.raw = true, found.b
		r.at.Offset, r.at.Length = found.offset, len(found.b)
		r.noteGaps()
		return &r.record, nil
	}
}

// noteGaps notes what a record tells of the trace: a newer format, another run, missing records.
func (r *Reader) noteGaps() {
	rec := &r.record
	switch {
	case rec.Kind == KindStart:
		if rec.Format > Format {
			r.note("this trace has format %d, and this program knows %d: what is known of it is shown", rec.Format, Format)
		}
		if r.run != "" && rec.Run != r.run {
			r.note("another run begins at line %d: two processes have written to this file", r.line)
		}
		if r.run == "" && rec.N > 1 {
			r.note("the file was full at record %d and begun anew: what was before is in FILE.1, if that is of the same run", rec.N-1)
		}
		r.run = rec.Run
	case rec.N > r.last+1:
		r.note("records %d to %d are missing", r.last+1, rec.N-1)
	}
	r.last = rec.N
}

func (r *Reader) note(format string, args ...any) {
	if len(r.notes) < maxNotes {
		r.notes = append(r.notes, fmt.Sprintf(format, args...))
	} else if len(r.notes) == maxNotes {
		r.notes = append(r.notes, "and so on: there are more notes of this kind")
	}
}

// Position is the position of the last record that Next returned.
func (r *Reader) Position() Position { return r.at }

// Line is the last record's line, without its newline. It is valid as long as the
// record.
func (r *Reader) Line() []byte { return r.raw }

// Notes tell what was wrong with the trace so far.
func (r *Reader) Notes() []string {
	notes := slices.Clone(r.notes)
	if r.torn {
		notes = append(notes, "the last line is cut off: the program was ended in the middle of it, or is still writing")
	}
	return notes
}

// Wait waits until a growing file may have more than at the last io.EOF, or was begun
// anew; that ends a Reader of which there is a File. It returns ctx's error when ctx ends.
func (r *Reader) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollTime):
	}
	if r.file == nil {
		return io.EOF
	}
	now, nameErr := os.Stat(r.file.Name())
	was, err := r.file.Stat()
	switch moved := nameErr == nil && err == nil && !os.SameFile(was, now); {
	case err != nil, was.Size() > r.lines.offset, was.Size() == r.lines.offset && !moved:
		return nil
	case moved && r.hasFile: // the positions are in this file
		r.note("the file was full and is FILE.1 now: what comes from now on is in a new one")
		return errChanged
	case moved:
		next, err := os.Open(r.file.Name())
		if err != nil {
			return nil
		}
		r.file.Close()
		r.file = next
	default: // it was begun anew
		if _, err := r.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("trace: %w", err)
		}
	}
	r.lines, r.line = newLineReader(r.file), 0
	return nil
}

// Close closes the file, unless File has been called.
func (r *Reader) Close() error {
	if r.file == nil || r.hasFile {
		return nil
	}
	return r.file.Close()
}

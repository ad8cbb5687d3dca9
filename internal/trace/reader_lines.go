package trace

import (
	"bytes"
	"io"
)

// maxLine bounds a line of a trace: the largest payload, with escapes.
const maxLine = 3 * FullLimit

// A lineReader reads lines of any length; too long ones without their bytes. At the end
// it can be asked again, as more may have been written.
type lineReader struct {
	src io.Reader
	buf []byte
	// buf[from:to] is unread; it has no newline before scan.
	from, scan, to int
	offset         int64 // of buf[from] in the source
	skipping       bool  // within a line that is too long
}

// A line is one line without its newline, valid until the next.
type line struct {
	b      []byte
	offset int64
	whole  bool // it ends with a newline
	long   bool // it was too long, and has no bytes
}

// next returns the next line. At the end of the source it returns the rest, without
// whole, or io.EOF if there is none. The rest is returned again, longer, when there is
// more.
func (l *lineReader) next() (line, error) {
	for {
		if i := bytes.IndexByte(l.buf[l.scan:l.to], '\n'); i >= 0 {
			end := l.scan + i
			found := line{b: l.buf[l.from:end], offset: l.offset, whole: true, long: l.skipping}
			l.offset += int64(end + 1 - l.from)
			l.from, l.scan, l.skipping = end+1, end+1, false
			return found, nil
		}
		l.scan = l.to
		if l.to-l.from > maxLine {
			l.offset += int64(l.to - l.from)
			l.from, l.scan, l.to, l.skipping = 0, 0, 0, true
		}
		if err := l.fill(); err != nil {
			if err == io.EOF && l.to > l.from {
				return line{b: l.buf[l.from:l.to], offset: l.offset, long: l.skipping}, nil
			}
			return line{}, err
		}
	}
}

// fill reads more.
func (l *lineReader) fill() error {
	if l.from > 0 && l.to-l.from < len(l.buf)/2 {
		copy(l.buf, l.buf[l.from:l.to])
		l.scan, l.to, l.from = l.scan-l.from, l.to-l.from, 0
	}
	if l.to == len(l.buf) {
		buf := make([]byte, max(64<<10, 2*(l.to-l.from)))
		copy(buf, l.buf[l.from:l.to])
		l.buf = buf
		l.scan, l.to, l.from = l.scan-l.from, l.to-l.from, 0
	}
	n, err := l.src.Read(l.buf[l.to:])
	l.to += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

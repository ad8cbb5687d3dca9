package trace

import (
	"bufio"
	"bytes"
	"io"
)

// maxLine bounds a line of a trace: the largest payload, with escapes.
const maxLine = 3 * maxPayload

// A lineReader reads lines of any length; too long ones without their bytes. At the end
// it can be asked again, as more may have been written.
type lineReader struct {
	src    *bufio.Reader
	buf    []byte // what was read of a line without an end
	offset int64  // of the next line
	size   int64  // of what was read of it
}

func newLineReader(src io.Reader) lineReader {
	return lineReader{src: bufio.NewReaderSize(src, 64<<10)}
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
// more, unless consume was called.
func (l *lineReader) next() (line, error) {
	for {
		b, err := l.src.ReadSlice('\n')
		l.size += int64(len(b))
		if err != nil || l.size > int64(len(b)) { // a piece of a line
			if l.buf = append(l.buf, b...); l.size > maxLine {
				l.buf = l.buf[:0]
			}
			b = l.buf
		}
		found := line{b: bytes.TrimSuffix(b, []byte{'\n'}), offset: l.offset, whole: err == nil, long: l.size > maxLine}
		switch {
		case err == nil:
			l.consume()
			return found, nil
		case err == io.EOF && l.size > 0:
			return found, nil
		case err != bufio.ErrBufferFull:
			return line{}, err
		}
	}
}

// consume makes the next line begin behind what was read.
func (l *lineReader) consume() {
	l.offset += l.size
	l.size, l.buf = 0, l.buf[:0]
}

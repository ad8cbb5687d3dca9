package stdio

import (
	"bufio"
	"bytes"
	"io"
	"slices"
)

const (
	// lineBuffer holds all but the lines that carry whole files; one read call
	// fills it with whatever the editor has written at once.
	lineBuffer = 64 << 10

	// keepLine is how large a buffer for one long line, or one large batch, may
	// be and still be kept for the next one. Editors paste images now and then;
	// the megabytes of one should not stay for the rest of the session.
	keepLine = 1 << 20

	// lineHead is how much is kept of a line that is too long, to find its id in:
	// clients write the id first or right after the method.
	lineHead = 4 << 10
)

// A lineReader splits input at newlines, and holds one line at a time.
type lineReader struct {
	r   *bufio.Reader
	max int
	// long collects a line that does not fit into r's buffer.
	long []byte
	// err is how the input ended; some readers would block if asked again.
	err error
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, lineBuffer), max: limit}
}

// next returns the next line without its newline; it is valid until the next
// call. If the line is longer than the limit, whole is false and line is only
// its head. What is left at the end of input counts as a line, because
// printf '{…}' | a2astdio ends without a newline.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	if cap(l.long) > keepLine {
		l.long = nil
	}
	l.long = l.long[:0]
	if l.err != nil {
		return nil, false, l.err
	}
	for length := 0; ; {
		part, err := l.r.ReadSlice('\n')
		part, ended := bytes.CutSuffix(part, []byte("\n"))
		if err != nil && err != bufio.ErrBufferFull {
			l.err, ended = err, true
		}
		length += len(part)
		switch {
		case ended && length == 0 && l.err != nil:
			return nil, false, l.err
		case ended && length == len(part) && length <= l.max:
			return part, true, nil
		case length <= l.max:
			l.grow(len(part))
			l.long = append(l.long, part...)
		default:
			l.long = append(l.long, part[:min(len(part), max(0, lineHead-len(l.long)))]...)
			if len(l.long) > lineHead {
				// The bytes after the head are given back now, and not when the
				// line ends.
				l.long = slices.Clone(l.long[:lineHead])
			}
		}
		if ended {
			return l.long, length <= l.max, nil
		}
	}
}

// grow doubles, but never far past the limit: append would allocate five times
// the length of a long line on the way to it.
func (l *lineReader) grow(n int) {
	if need := len(l.long) + n; need > cap(l.long) {
		grown := make([]byte, len(l.long), max(need, min(2*cap(l.long), l.max)))
		copy(grown, l.long)
		l.long = grown
	}
}

package transport

import (
	"bufio"
	"io"
	"strings"
)

// An arrayStream turns a JSON array into an event stream while it arrives. Google's
// front ends send a stream as an array to clients that do not ask for alt=sse. Each
// element is an event of one line.
type arrayStream struct {
	src io.Reader
	in  []byte
	out []byte // what has not been handed out of buf
	buf []byte
	err error

	depth               int // 0 before the array; 1 in it, 2 and more in an element
	text, escaped, bare bool
	ended               bool // after the closing bracket
}

// arrayChunk is how much is read at once.
const arrayChunk = 32 << 10

// isArray reports whether an answer that is expected to be a stream is a JSON array,
// and makes a stream of it then. It waits for the first byte of the body.
func (x *exchange) isArray() bool {
	if !x.arrays || !strings.HasSuffix(x.mediaType(), "json") {
		return false
	}
	body := x.resp.Body
	src := bufio.NewReaderSize(body, arrayChunk)
	x.resp.Body = readCloser{src, body}
	for {
		b, err := src.ReadByte()
		if err != nil {
			return false // the next read returns the error again
		}
		if b == ' ' || b == '\t' || b == '\r' || b == '\n' {
			continue
		}
		_ = src.UnreadByte() // it was read just now
		if b != '[' {
			return false
		}
		x.resp.Body = readCloser{&arrayStream{src: src, in: make([]byte, arrayChunk)}, body}
		return true
	}
}

func (a *arrayStream) Read(p []byte) (int, error) {
	for len(a.out) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		n, err := a.src.Read(a.in)
		a.buf = a.buf[:0]
		for _, b := range a.in[:n] {
			a.take(b)
		}
		a.out = a.buf
		if a.err = err; err == io.EOF && !a.ended {
			a.err = io.ErrUnexpectedEOF
		}
	}
	n := copy(p, a.out)
	a.out = a.out[n:]
	return n, nil
}

// take handles the next byte of the array.
func (a *arrayStream) take(b byte) {
	switch {
	case a.ended:
	case a.text:
		a.buf = append(a.buf, b)
		switch {
		case a.escaped:
			a.escaped = false
		case b == '\\':
			a.escaped = true
		case b == '"':
			a.text = false
		}
	case a.depth == 0:
		a.depth = 1 // isArray has seen the bracket
	case b == ' ' || b == '\t' || b == '\r' || b == '\n': // an event has one line
	case a.depth == 1 && (b == ',' || b == ']'):
		a.end()
		a.ended = b == ']'
	default:
		if a.depth == 1 && !a.bare {
			a.buf, a.bare = append(a.buf, "data: "...), true
		}
		a.buf = append(a.buf, b)
		switch b {
		case '"':
			a.text = true
		case '{', '[':
			a.depth++
		case '}', ']':
			if a.depth--; a.depth == 1 {
				a.end() // at once: the comma comes with the next
			}
		}
	}
}

// end ends an element, if one was begun.
func (a *arrayStream) end() {
	if a.bare {
		a.buf, a.bare = append(a.buf, "\n\n"...), false
	}
}

package transport

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// This file reads bodies that an agent, or a gateway before it, compresses unasked or
// labels wrongly, and streams that are JSON arrays.

// decodeBody replaces a compressed body by the plain one; at is who sent it. We do not
// ask for compression (newTransport), but RFC 9110 (12.5.3) allows it where a request
// does not forbid it, and some gateways compress all text.
func decodeBody(at string, resp *http.Response) {
	switch encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength = -1
		resp.Body = readCloser{&gzipBody{src: resp.Body}, resp.Body}
	default:
		resp.Body.Close()
		resp.Body = readCloser{&brokenBody{failf(nil, "%s answered in the encoding %s, which was not asked for: turn compression off where the agent is served",
			at, quote([]byte(encoding)))}, resp.Body}
	}
}

// A gzipBody is a body that is compressed. Its head is read by the first Read, since a
// stream may have no byte yet.
type gzipBody struct {
	src io.Reader
	z   *gzip.Reader
	err error
}

func (b *gzipBody) Read(p []byte) (int, error) {
	if b.z == nil && b.err == nil {
		if b.z, b.err = gzip.NewReader(b.src); b.err == io.EOF {
			return 0, io.EOF // an empty body is empty in any encoding
		}
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.z.Read(p)
}

// A brokenBody is one that cannot be read.
type brokenBody struct{ err error }

func (b *brokenBody) Read([]byte) (int, error) { return 0, b.err }

// A readCloser is a body that is read by way of something else.
type readCloser struct {
	io.Reader
	io.Closer
}

// becomesStream reports whether an answer that may be a stream is one by its first bytes,
// though it is labelled as something else, or is a JSON array: that is how Google's front
// ends send a stream to clients that do not ask for alt=sse.
func (x *exchange) becomesStream() bool {
	switch x.begins() {
	case ':':
		return true
	case '[':
		if x.arrays && strings.HasSuffix(x.mediaType(), "json") {
			body := x.resp.Body
			x.resp.Body = readCloser{&arrayStream{src: body, in: make([]byte, arrayChunk)}, body}
			return true
		}
	}
	return false
}

// begins returns how a body begins that is not labelled as an event stream: with a colon
// if as one all the same, since no JSON begins as a line of it does; else with its first
// byte that is no space. It waits for these bytes.
func (x *exchange) begins() byte {
	switch t := x.mediaType(); {
	case strings.HasSuffix(t, "json"), t == "", t == "text/plain", t == "application/octet-stream":
	default:
		return 0
	}
	body := x.resp.Body
	src := bufio.NewReaderSize(body, arrayChunk)
	x.resp.Body = readCloser{src, body}
	for n := 1; ; n++ {
		begin, err := src.Peek(n)
		if err != nil {
			return 0 // the next read returns the error again
		}
		begin = bytes.TrimLeft(bytes.TrimPrefix(begin, []byte("\uFEFF")), " \t\r\n")
		maybe := strings.HasPrefix("\uFEFF", string(begin))
		for _, field := range []string{":", "data:", "event:", "id:", "retry:"} {
			if bytes.HasPrefix(begin, []byte(field)) {
				return ':'
			}
			maybe = maybe || strings.HasPrefix(field, string(begin))
		}
		if !maybe {
			return begin[0]
		}
	}
}

// An arrayStream turns a JSON array into an event stream while it arrives. Each element is
// an event of one line.
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
	case b == ' ' || b == '\t' || b == '\r' || b == '\n': // an event has one line
	case a.depth == 0:
		a.depth = 1 // becomesStream has seen the bracket
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

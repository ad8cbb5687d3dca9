package transport

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
)

// This file is for bodies that an agent, or a gateway before it, compresses unasked or
// labels wrongly.

// checkEncoding refuses a compressed body, which we do not ask for (newTransport); at is who
// sent it.
func checkEncoding(at string, resp *http.Response) error {
	encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
	if encoding == "" || encoding == "identity" {
		return nil
	}
	resp.Body.Close()
	return failf(nil, "%s answered in the encoding %s, which was not asked for: turn compression off where the agent is served", at, quote([]byte(encoding)))
}

// A readCloser is a body that is read by way of something else.
type readCloser struct {
	io.Reader
	io.Closer
}

// peekSize is how much of a body is read to see how it begins.
const peekSize = 32 << 10

// beginsAsStream reports whether a body that is not labelled as an event stream begins as one
// all the same, as no JSON does. It waits for its first bytes.
func (x *exchange) beginsAsStream() bool {
	switch t := x.mediaType(); {
	case strings.HasSuffix(t, "json"), t == "", t == "text/plain", t == "application/octet-stream":
	default:
		return false
	}
	body := x.resp.Body
	src := bufio.NewReaderSize(body, peekSize)
	x.resp.Body = readCloser{src, body}
	for n := 1; ; n++ {
		begin, err := src.Peek(n)
		if err != nil {
			return false // the next read returns the error again
		}
		begin = bytes.TrimLeft(bytes.TrimPrefix(begin, []byte("\uFEFF")), " \t\r\n")
		maybe := strings.HasPrefix("\uFEFF", string(begin))
		for _, field := range []string{":", "data:", "event:", "id:", "retry:"} {
			if bytes.HasPrefix(begin, []byte(field)) {
				return true
			}
			maybe = maybe || strings.HasPrefix(field, string(begin))
		}
		if !maybe {
			return false
		}
	}
}

// jsonLines is the media type of JSON objects, one a line.
const jsonLines = "application/x-ndjson"

// readsLines has a body of that type read as an event stream. An answer that is no stream is JSON whatever it
// is labelled as, and may have several lines.
func (x *exchange) readsLines() bool {
	if x.mediaType() != jsonLines {
		return false
	}
	x.resp.Body = readCloser{&lineReader{src: x.resp.Body}, x.resp.Body}
	return true
}

// A lineReader makes an event stream of JSON objects, one a line: LiteLLM's gateway answers message/stream so
// (1.93, and before). A last line without an end is left to frameReader.last: it may be a cut one.
type lineReader struct {
	src    io.Reader
	in     [peekSize]byte
	out    []byte // what is not handed out yet, a part of buf
	buf    []byte
	inLine bool
	err    error // from src
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 && r.err == nil {
		n := 0
		n, r.err = r.src.Read(r.in[:])
		r.buf = r.buf[:0]
		for _, b := range r.in[:n] {
			r.add(b)
		}
		r.out = r.buf
	}
	if len(r.out) == 0 {
		return 0, r.err
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// add adds the next byte: a line begins an event, and its end ends that.
func (r *lineReader) add(b byte) {
	blank := b == '\n' || b == '\r'
	switch {
	case blank && r.inLine:
		r.buf, r.inLine = append(r.buf, "\n\n"...), false
	case blank:
	case r.inLine:
		r.buf = append(r.buf, b)
	default:
		r.buf, r.inLine = append(append(r.buf, "data: "...), b), true
	}
}

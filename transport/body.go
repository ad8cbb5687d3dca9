package transport

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// This file reads bodies that an agent, or a gateway before it, compresses unasked or
// labels wrongly, and streams that are JSON arrays.

// decodeBody replaces a compressed body by the plain one; at is who sent it. We do not
// ask for compression (newTransport), but RFC 9110 (12.5.3) allows it where a request
// does not forbid it, and some gateways compress all text.
func decodeBody(at string, resp *http.Response) error {
	switch encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength = -1
		resp.Body = readCloser{&gzipBody{src: resp.Body}, resp.Body}
	default:
		resp.Body.Close()
		return failf(nil, "%s answered in the encoding %s, which was not asked for: turn compression off where the agent is served", at, quote([]byte(encoding)))
	}
	return nil
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
			src := &io.LimitedReader{R: body}
			x.resp.Body = readCloser{&arrayStream{src: src, max: x.c.limit(), json: json.NewDecoder(src)}, body}
			return true
		}
	}
	return false
}

// peekSize is how much of a body is read to see how it begins.
const peekSize = 32 << 10

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
	src := bufio.NewReaderSize(body, peekSize)
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
	src   *io.LimitedReader // what may be read for one element
	json  *json.Decoder
	max   int // of an element
	begun bool
	out   bytes.Buffer
}

func (a *arrayStream) Read(p []byte) (int, error) {
	if a.out.Len() == 0 {
		if err := a.next(); err != nil {
			return 0, err
		}
	}
	return a.out.Read(p)
}

// next waits for the next element.
func (a *arrayStream) next() error {
	a.src.N = int64(a.max)
	var err error
	if !a.begun {
		a.begun = true
		_, err = a.json.Token() // becomesStream has seen the bracket
	}
	var element json.RawMessage
	switch {
	case err != nil:
	case a.json.More():
		err = a.json.Decode(&element)
	default:
		if _, err = a.json.Token(); err == nil { // the closing bracket
			if _, err = io.Copy(io.Discard, a.src.R); err == nil {
				err = io.EOF
			}
			return err
		}
	}
	var wrong *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return failf(ErrMalformed, "the agent sent an array that is not JSON: %v", wrong)
	case a.src.N == 0 && (err == io.EOF || err == io.ErrUnexpectedEOF):
		return errEventSize
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	a.out.WriteString("data: ")
	if err := json.Compact(&a.out, element); err != nil {
		return err
	}
	a.out.WriteString("\n\n")
	return nil
}

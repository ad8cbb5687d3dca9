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
// labels wrongly.

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
		resp.Body = &gzipBody{src: resp.Body}
	default:
		resp.Body.Close()
		resp.Body = io.NopCloser(&brokenBody{failf(nil, "%s answered in the encoding %s, which was not asked for: turn compression off where the agent is served",
			at, quote([]byte(encoding)))})
	}
	if t, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); resp.StatusCode < 300 && strings.EqualFold(strings.TrimSpace(t), "text/event-stream") {
		resp.Body = &eventBody{src: resp.Body}
	}
}

// An eventBody is a body that is labelled as an event stream. One that is a JSON object
// (an agent, or a gateway, labels what it has not streamed) is read as one event: to an
// event stream its lines would be fields of unknown names, and it would be empty.
type eventBody struct {
	src    io.ReadCloser
	state  eventBodyState
	object bool   // it is an object
	left   []byte // to be given first
}

type eventBodyState uint8

const (
	notKnown eventBodyState = iota
	isEvents
	isObject
)

func (b *eventBody) Read(p []byte) (int, error) {
	if len(b.left) > 0 {
		n := copy(p, b.left)
		b.left = b.left[n:]
		return n, nil
	}
	n, err := b.src.Read(p)
	if b.state == notKnown {
		switch begin := bytes.TrimLeft(p[:n], " \t\r\n"); {
		case len(begin) == 0:
		case begin[0] == '{':
			b.state, b.object = isObject, true
			b.left = append([]byte("data: "), begin...)
			n = 0
		default:
			b.state = isEvents
		}
	}
	if b.state != isObject {
		return n, err
	}
	oneLine := func(text []byte) {
		for i, c := range text {
			if c == '\n' || c == '\r' {
				text[i] = ' ' // there is none within JSON's strings
			}
		}
	}
	oneLine(p[:n])
	oneLine(b.left)
	if err == io.EOF {
		b.state = isEvents // nothing follows
		b.left = append(append(b.left, p[:n]...), "\n\n"...)
		return b.Read(p)
	}
	if n == 0 && err == nil {
		return b.Read(p)
	}
	return n, err
}

func (b *eventBody) Close() error { return b.src.Close() }

// A gzipBody is a body that is compressed. Its head is read by the first Read, since a
// stream may have no byte yet.
type gzipBody struct {
	src io.ReadCloser
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

func (b *gzipBody) Close() error { return b.src.Close() }

// A brokenBody is one that cannot be read.
type brokenBody struct{ err error }

func (b *brokenBody) Read([]byte) (int, error) { return 0, b.err }

// A readCloser is a body that is read by way of something else.
type readCloser struct {
	io.Reader
	io.Closer
}

// isMislabelled reports whether an answer that is expected to be a stream is one by
// its first bytes, though it is labelled as something else: no JSON begins as a line of
// an event stream does. It waits for these bytes.
func (x *exchange) isMislabelled() bool {
	switch t := x.mediaType(); {
	case strings.HasSuffix(t, "json"), t == "", t == "text/plain", t == "application/octet-stream":
	default:
		return false
	}
	body := x.resp.Body
	src := bufio.NewReaderSize(body, arrayChunk)
	x.resp.Body = readCloser{src, body}
	for n := 1; ; n++ {
		begin, err := src.Peek(n)
		if err != nil {
			return false // the next read returns the error again
		}
		begin = bytes.TrimLeft(bytes.TrimPrefix(begin, []byte("\uFEFF")), "\r\n")
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

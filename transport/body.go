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

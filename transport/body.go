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

// peekSize is how much of a body is read to see how it begins.
const peekSize = 32 << 10

// beginsAsStream reports whether a body that is not labelled as an event stream begins as one
// all the same, as no JSON does. It waits for as much as tells.
func (x *exchange) beginsAsStream() bool {
	switch t := x.mediaType(); {
	case strings.HasSuffix(t, "json"), t == "", t == "text/plain", t == "application/octet-stream":
	default:
		return false
	}
	body := x.resp.Body
	src := bufio.NewReaderSize(body, peekSize)
	x.resp.Body = struct {
		io.Reader
		io.Closer
	}{src, body}
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

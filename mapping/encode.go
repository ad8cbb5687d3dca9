package mapping

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// appendString appends s as a JSON string: see [rawjson.AppendEscaped].
func appendString(dst []byte, s string) []byte {
	return append(rawjson.AppendEscaped(append(dst, '"'), s), '"')
}

// appendEscaped is appendString without the quotes.
func appendEscaped(dst []byte, s string) []byte { return rawjson.AppendEscaped(dst, s) }

// appendText appends a step's text as a JSON string: the agent's own encoding
// of it where that may be copied.
func appendText(dst []byte, s *Step) []byte {
	if s.piece {
		return append(append(append(dst, '"'), s.TextJSON...), '"')
	}
	if s.TextJSON != "" && (s.Plain || copyable(s.TextJSON)) {
		return append(dst, s.TextJSON...)
	}
	return appendString(dst, s.Text)
}

// joinText lets a step's text go on with the JSON string at the end of dst.
func joinText(dst []byte, s *Step) []byte {
	last := len(dst) - 1
	if s.Plain && !s.piece && s.TextJSON != "" {
		return append(dst[:last], s.TextJSON[1:]...)
	}
	dst = appendText(dst[:last], s) // its opening quote is where the other's end was
	return append(dst[:last], dst[last+1:]...)
}

// copyable reports whether a JSON value from outside may be written as it is. A lone
// surrogate is an error to strict readers (serde_json), so a value with any escape of a
// surrogate is decoded and written anew.
func copyable(j a2a.JSON) bool {
	s := string(j)
	if strings.IndexByte(s, '\\') >= 0 && (strings.Contains(s, `\ud`) || strings.Contains(s, `\uD`)) {
		return false
	}
	ascii, ok := rawjson.ScanRun(s)
	if !ok { // it may have line feeds between its members
		ok = utf8.ValidString(s)
	}
	return ascii || ok && !strings.Contains(s, "\u2028") && !strings.Contains(s, "\u2029")
}

// appendValue appends a JSON value from outside on one line, and so that it is
// valid whatever strings are in it.
func appendValue(dst []byte, j a2a.JSON) []byte {
	if copyable(j) && !strings.ContainsAny(string(j), "\n\r") {
		return append(dst, j...)
	}
	var v any
	d := json.NewDecoder(strings.NewReader(string(j)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return append(dst, "null"...)
	}
	b, err := marshal(v)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, b...)
}

// appendMember appends a member, whose value is as it was written, to a JSON object
// that endObject ends. nil is the empty object.
func appendMember(dst []byte, key, raw string) []byte {
	sep := byte(',')
	if dst == nil {
		sep = '{'
	}
	return append(append(appendString(append(dst, sep), key), ':'), raw...)
}

// endObject ends an object that appendMember has written; it is "" if it has none.
func endObject(dst []byte) a2a.JSON {
	if dst == nil {
		return ""
	}
	return a2a.JSON(append(dst, '}'))
}

// marshal is json.Marshal without HTML's escapes: code is full of < and &.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

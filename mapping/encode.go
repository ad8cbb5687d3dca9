package mapping

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. Beside what JSON demands it escapes
// U+2028 and U+2029, which end a line for some readers of lines; bytes that are
// not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		if i = rawjson.SkipPlain(s, i); i == len(s) {
			break
		}
		b := s[i]
		if b < utf8.RuneSelf {
			dst = append(dst, s[from:i]...)
			switch b {
			case '"', '\\':
				dst = append(dst, '\\', b)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
			}
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, s[from:i]...)
			dst = append(dst, "\ufffd"...)
			from = i + 1
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[from:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[r&15])
			from = i + n
		}
		i += n
	}
	return append(append(dst, s[from:]...), '"')
}

// appendEscaped is appendString without the quotes.
func appendEscaped(dst []byte, s string) []byte {
	from := len(dst)
	dst = appendString(dst, s)
	copy(dst[from:], dst[from+1:len(dst)-1])
	return dst[:len(dst)-2]
}

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

// copyable reports whether a JSON value from outside may be written as it is.
// Surrogates are not looked at one by one: a lone one is an error to strict
// readers (serde_json), so any takes the way through decoding.
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

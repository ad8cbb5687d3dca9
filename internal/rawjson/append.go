package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// AppendString appends s as a JSON string: see [AppendEscaped].
func AppendString(dst []byte, s string) []byte {
	return append(AppendEscaped(append(dst, '"'), s), '"')
}

// AppendField appends a comma and a member whose value is a string. The key is written as it is.
func AppendField(dst []byte, key, value string) []byte {
	return AppendString(appendKey(dst, key), value)
}

// AppendJSON is [AppendField] for a value from outside (see [AppendValue]); it appends nothing
// if that is "".
func AppendJSON(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return AppendValue(appendKey(dst, key), value)
}

func appendKey(dst []byte, key string) []byte {
	dst = append(dst, `,"`...)
	dst = append(dst, key...)
	return append(dst, `":`...)
}

// Copyable reports whether a JSON value from outside may be written as it is. A lone
// surrogate is an error to strict readers (serde_json), so a value with any escape of a
// surrogate is decoded and written anew.
func Copyable(s string) bool {
	if strings.IndexByte(s, '\\') >= 0 && (strings.Contains(s, `\ud`) || strings.Contains(s, `\uD`)) {
		return false
	}
	ascii, ok := ScanRun(s)
	if !ok { // it may have line feeds between its members
		ok = utf8.ValidString(s)
	}
	return ascii || ok && !strings.Contains(s, "\u2028") && !strings.Contains(s, "\u2029")
}

// AppendValue appends a JSON value from outside on one line, and so that it is
// valid whatever strings are in it.
func AppendValue(dst []byte, value string) []byte {
	if Copyable(value) && strings.IndexByte(value, '\n') < 0 && strings.IndexByte(value, '\r') < 0 { // ContainsAny takes ten times as long
		return append(dst, value...)
	}
	var v any
	d := json.NewDecoder(strings.NewReader(value))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return append(dst, "null"...)
	}
	b, err := Marshal(v)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, b...)
}

// AppendMember appends a member, whose value is as it was written, to a JSON object
// that [EndObject] ends. One without bytes is the empty object.
func AppendMember(dst []byte, key, raw string) []byte {
	sep := byte(',')
	if len(dst) == 0 {
		sep = '{'
	}
	return append(append(AppendString(append(dst, sep), key), ':'), raw...)
}

// EndObject ends an object that [AppendMember] has written; it is "" if it has none.
func EndObject(dst []byte) string {
	if len(dst) == 0 {
		return ""
	}
	return string(append(dst, '}'))
}

// Marshal is json.Marshal without HTML's escapes: code is full of < and &, and each would take
// six bytes.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

const hexDigits = "0123456789abcdef"

// AppendEscaped appends s as the content of a JSON string. It also escapes U+2028 and
// U+2029, which end a line for some readers; bytes that are not UTF-8 become U+FFFD.
func AppendEscaped(dst []byte, s string) []byte {
	from := 0
	for i := 0; i < len(s); {
		if i = SkipPlain(s, i); i == len(s) {
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
	return append(dst, s[from:]...)
}

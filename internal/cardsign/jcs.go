package cardsign

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A writer writes JSON so that equal values give equal bytes.
type writer struct {
	less   func(a, b string) int
	text   func(dst []byte, s string) []byte
	number func(dst []byte, n number) []byte
}

// jcs is the JSON Canonicalization Scheme, RFC 8785.
func jcs() writer { return writer{compareUTF16, appendText, appendES6} }

// pythonDumps is Python's json.dumps(v, separators=(",", ":"), sort_keys=True), which
// some signers use in place of RFC 8785: texts in ASCII, members by code points,
// numbers as repr writes them. floats: the signer had the card in a protocol buffer,
// where each number is a float.
func pythonDumps(floats bool) writer {
	return writer{cmp.Compare[string], appendASCII, func(dst []byte, n number) []byte {
		if i, err := strconv.ParseInt(n.text, 10, 64); err == nil && !floats {
			return strconv.AppendInt(dst, i, 10)
		}
		return appendRepr(dst, n.value)
	}}
}

// append writes a value that parseObject has made.
func (w writer) append(dst []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		dst = append(dst, '{')
		for i, name := range slices.SortedFunc(maps.Keys(v), w.less) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(w.text(dst, name), ':')
			dst = w.append(dst, v[name])
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = w.append(dst, e)
		}
		return append(dst, ']')
	case string:
		return w.text(dst, v)
	case number:
		return w.number(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	}
	return append(dst, "null"...)
}

// compareUTF16 orders names as RFC 8785 §3.2.3 does: by their UTF-16 code units. Code
// points beyond U+FFFF have surrogates, which sort before U+E000.
func compareUTF16(a, b string) int {
	for a != "" && b != "" {
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		if ra != rb {
			return cmp.Compare(firstUnit(ra, rb), firstUnit(rb, ra))
		}
		a, b = a[na:], b[nb:]
	}
	return cmp.Compare(len(a), len(b))
}

// firstUnit is the first UTF-16 code unit in which r can differ from other.
func firstUnit(r, other rune) rune {
	if r <= 0xffff {
		return r
	}
	high, low := utf16.EncodeRune(r)
	if other > 0xffff {
		if h, _ := utf16.EncodeRune(other); h == high {
			return low
		}
	}
	return high
}

// appendText writes a text like RFC 8785 §3.2.2.2: it escapes only what JSON requires.
func appendText(dst []byte, s string) []byte {
	return appendEscaped(dst, s, func(r rune) bool { return r >= ' ' })
}

// appendASCII is Python's ensure_ascii.
func appendASCII(dst []byte, s string) []byte {
	return appendEscaped(dst, s, func(r rune) bool { return r >= ' ' && r <= '~' })
}

func appendEscaped(dst []byte, s string, plain func(rune) bool) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\b':
			dst = append(dst, `\b`...)
		case r == '\f':
			dst = append(dst, `\f`...)
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case plain(r):
			dst = utf8.AppendRune(dst, r)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				dst = fmt.Appendf(dst, `\u%04x`, unit)
			}
		}
	}
	return append(dst, '"')
}

// appendES6 writes a number like ECMAScript's Number::toString, as RFC 8785 §3.2.2.3
// requires.
func appendES6(dst []byte, n number) []byte {
	f := n.value
	size := math.Abs(f)
	switch {
	case f == 0: // there is no -0
		return append(dst, '0')
	case size >= 1e-6 && size < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	return trimExponent(strconv.AppendFloat(dst, f, 'e', -1, 64))
}

// appendRepr writes a float as Python's repr does.
func appendRepr(dst []byte, f float64) []byte {
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	begin := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if !slices.Contains(dst[begin:], '.') {
		dst = append(dst, ".0"...)
	}
	return dst
}

// trimExponent makes e-7 of e-07.
func trimExponent(b []byte) []byte {
	if n := len(b); n > 3 && b[n-2] == '0' && (b[n-3] == '-' || b[n-3] == '+') {
		b[n-2] = b[n-1]
		return b[:n-1]
	}
	return b
}

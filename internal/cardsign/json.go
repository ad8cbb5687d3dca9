package cardsign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gowebpki/jcs"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// canonical writes a value that parseObject has made in the JSON Canonicalization Scheme,
// RFC 8785, so that equal values give equal bytes.
func canonical(v any) []byte {
	b, _ := rawjson.Marshal(v) // of values that were read from JSON
	out, err := jcs.Transform(b)
	if err != nil {
		return b // no object: it is signed by nobody
	}
	return out
}

// pythonDumps writes like Python's json.dumps(v, separators=(",", ":"), sort_keys=True),
// which some signers use in place of RFC 8785: texts in ASCII, members by code points,
// numbers as repr writes floats, since the signer had the card in a protocol buffer.
func pythonDumps(v any) []byte { return appendPython(nil, v) }

func appendPython(dst []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		dst = append(dst, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendASCII(dst, name), ':')
			dst = appendPython(dst, v[name])
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendPython(dst, e)
		}
		return append(dst, ']')
	case string:
		return appendASCII(dst, v)
	case json.Number:
		f, _ := v.Float64() // parseObject has refused what is none
		return appendRepr(dst, f)
	case bool:
		return strconv.AppendBool(dst, v)
	}
	return append(dst, "null"...)
}

// appendASCII is Python's ensure_ascii.
func appendASCII(dst []byte, s string) []byte {
	const short = "\b\f\n\r\t\"\\"
	dst = append(dst, '"')
	for _, r := range s {
		switch i := bytes.IndexRune([]byte(short), r); {
		case i >= 0:
			dst = append(dst, '\\', "bfnrt\"\\"[i])
		case r >= ' ' && r <= '~':
			dst = append(dst, byte(r))
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				dst = append(dst, '\\', 'u')
				for shift := 12; shift >= 0; shift -= 4 {
					dst = append(dst, "0123456789abcdef"[unit>>shift&15])
				}
			}
		}
	}
	return append(dst, '"')
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

// parseObject reads a JSON object as I-JSON (RFC 7493), as RFC 8785 §3.1 requires: it
// refuses duplicate members, halves of surrogates, and numbers beyond a double. Readers
// interpret these differently, so one signature would cover several cards.
//
// Values are map[string]any, []any, string, json.Number, bool and nil.
func parseObject(b []byte) (map[string]any, error) {
	b = bytes.Trim(b, " \t\r\n") // JSON's, fewer than Unicode's
	switch {
	case len(b) == 0 || b[0] != '{':
		return nil, errors.New("it is no JSON object")
	case !utf8.Valid(b):
		return nil, errors.New("it has bytes that are no UTF-8")
	case rawjson.TooDeep(b):
		return nil, fmt.Errorf("it nests deeper than %d levels", rawjson.MaxDepth)
	case !json.Valid(b):
		return nil, errors.New("it is no JSON object")
	}
	if _, err := jcs.Transform(b); err != nil {
		return nil, fmt.Errorf("readers do not agree on it: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		return nil, err
	}
	return object, nil
}

// pointer appends a member's name to a JSON pointer (RFC 6901).
func pointer(path, name string) string {
	return path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

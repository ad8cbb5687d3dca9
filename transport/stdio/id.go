package stdio

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// foreignID begins the ids that the library cannot hold, or would not give back byte
// for byte: -1, 1.5, 1e3, 18446744073709551616, "\u00e9". They pass through it as a
// string: this prefix and the id's JSON. An id of the editor cannot be mistaken for
// one: it would have an escape for the NUL, and every string with an escape gets the
// prefix itself.
const foreignID = "\x00raw:"

// An ID is a request's, as sourcegraph/jsonrpc2 holds it: jsonrpc2.ID(id) is the
// library's own.
type ID struct {
	Num      uint64
	Str      string
	IsString bool
}

// ParseID returns the ID that the library has for an id of the editor, given
// its JSON as the editor wrote it, and whether it is a string or a number.
// With it, the requestId of a $/cancel_request finds its request.
func ParseID(raw string) (id ID, ok bool) {
	v := gjson.Parse(raw)
	switch {
	case !gjson.Valid(raw) || !utf8.ValidString(raw):
		return ID{}, false
	case v.Type == gjson.String && plainString(v.Raw):
		return ID{Str: v.Str, IsString: true}, true
	case v.Type == gjson.Number && plainNumber(v.Raw):
		return ID{Num: v.Uint()}, true
	case v.Type == gjson.String || v.Type == gjson.Number:
		return ID{Str: foreignID + v.Raw, IsString: true}, true
	}
	return ID{}, false
}

// AppendID appends the JSON of id, as the editor wrote it.
func AppendID(dst []byte, id ID) []byte {
	if raw, ok := strings.CutPrefix(id.Str, foreignID); ok && id.IsString {
		return append(dst, raw...)
	}
	if !id.IsString {
		return strconv.AppendUint(dst, id.Num, 10)
	}
	quoted, _ := json.Marshal(id.Str) // a string always encodes
	return append(dst, quoted...)
}

// plainString reports whether encoding/json would write raw's string the way
// raw does.
func plainString(raw string) bool {
	for _, c := range []byte(raw[1 : len(raw)-1]) {
		if c < ' ' || c >= 0x7f || strings.IndexByte(`"\<>&`, c) >= 0 {
			return false
		}
	}
	return true
}

// plainNumber reports whether the library reads raw as an integer that it
// writes the way raw does: 0 … 2^63-1, without sign, fraction and exponent.
func plainNumber(raw string) bool {
	_, err := strconv.ParseInt(raw, 10, 64)
	return err == nil && raw[0] != '-'
}

// headID returns the JSON of the id of a request of which only the beginning
// can be trusted, or "null". It must be sure: an error reply to an id that the
// line did not have, or to one of an answer, would end another request. So the line
// must have a method, and go on after the id, or it could be 1 of 12.
func headID(line []byte) string {
	line = line[:min(len(line), lineHead)]
	id := gjson.GetBytes(line, "id")
	if _, ok := ParseID(id.Raw); !ok || id.Index+len(id.Raw) == len(line) || gjson.GetBytes(line, "method").Type != gjson.String {
		return "null"
	}
	return id.Raw
}

// oursLocked returns the number of our request that an answer with this id belongs to.
// Clients in languages with one kind of number, or that keep ids as keys of a table,
// answer request 1 with "1" or 1.0.
func (s *Conn) oursLocked(id gjson.Result) (n uint64, ok bool) {
	f, err := strconv.ParseFloat(id.String(), 64)
	n = uint64(f)
	return n, err == nil && s.ours[n] && float64(n) == f
}

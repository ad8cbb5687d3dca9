package stdio

import (
	"strconv"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// An ID is a request's: its JSON, a string or a number as the editor wrote it, so that it comes
// back byte for byte; "" is that of a notification.
type ID string

// headID returns the JSON of the id of a request of which only the beginning
// can be trusted, or "null". It must be sure: an error reply to an id that the
// line did not have, or to one of an answer, would end another request. So the line
// must have a method, and go on after the id, or it could be 1 of 12.
func headID(line []byte) string {
	line = line[:min(len(line), lineHead)]
	id := gjson.GetBytes(line, "id")
	if !isID(id) || !gjson.Valid(id.Raw) || !utf8.ValidString(id.Raw) || id.Index+len(id.Raw) == len(line) || gjson.GetBytes(line, "method").Type != gjson.String {
		return "null"
	}
	return id.Raw
}

func isID(v gjson.Result) bool { return v.Type == gjson.String || v.Type == gjson.Number }

// ours returns the number of the request of ours that an answer with this id may belong to.
// Clients in languages with one kind of number, or that keep ids as keys of a table,
// answer request 1 with "1" or 1.0.
func ours(id gjson.Result) (n uint64, ok bool) {
	f, err := strconv.ParseFloat(id.String(), 64)
	n = uint64(f)
	return n, err == nil && float64(n) == f
}

package trace

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// isJSON reports whether b is a JSON document, on one line or several.
func isJSON(b []byte) bool { return json.Valid(b) && utf8.Valid(b) }

func toValid(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }

// spoken reports whether a member's strings are words of the protocols, which a
// redacted trace keeps. All others may be what people or agents have said.
func spoken(key string) bool {
	return slices.Contains([]string{"jsonrpc", "id", "method", "kind", "state", "role", "type", "status", "version",
		"taskid", "contextid", "messageid", "artifactid", "sessionid", "toolcallid", "callid", "elicitationid",
		"sessionupdate", "stopreason", "outcome", "optionid", "selectedoptionid", "currentmodeid", "modeid",
		"protocolversion", "preferredtransport", "transport", "protocolbinding", "timestamp", "toolname",
		"mimetype", "mediatype", "phase", "configid"}, plain(key))
}

// redact appends a payload with each text replaced by its length.
func redact(dst, b []byte, valid bool) []byte {
	if !valid {
		return append(strconv.AppendInt(append(dst, '<'), int64(len(b)), 10), " bytes>"...)
	}
	var stack []bool // true: an object, false: an array
	key, isKey := "", false
	for i := 0; i < len(b); {
		switch c := b[i]; c {
		case '{', '[':
			stack = append(stack, c == '{')
			isKey = c == '{'
		case '}', ']':
			stack = stack[:len(stack)-1]
			isKey = false
		case ',':
			isKey = stack[len(stack)-1]
		case ':':
			isKey = false
		case '"':
			end := stringEnd(b, i)
			text := b[i+1 : end-1]
			switch {
			case isKey:
				key = string(text)
				dst = append(dst, b[i:end]...)
			case spoken(key) || len(text) == 0 || string(text) == masked:
				dst = append(dst, b[i:end]...)
			default:
				dst = append(strconv.AppendInt(append(dst, `"<`...), int64(len(text)), 10), ` bytes>"`...)
			}
			i = end
			continue
		}
		dst = append(dst, b[i])
		i++
	}
	return dst
}

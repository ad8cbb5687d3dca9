package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WriteRedacted writes the rest of a trace as --trace-redact would have recorded it:
// with the lengths of texts in their place.
func WriteRedacted(r *Reader, w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for record, err := range r.All() {
		if err != nil {
			return err
		}
		record.redact()
		if err := encoder.Encode(record); err != nil {
			return err
		}
	}
	return nil
}

// redact replaces the texts of a record.
func (r *Record) redact() {
	r.Redact = r.Kind == KindStart
	if payload, _ := r.Payload(); len(payload) > 0 {
		r.Masked = true
	}
	if r.JSON != nil {
		r.JSON = redact(r.JSON, true)
	}
	r.Text, r.Head, r.Comment, r.Why = length(r.Text+string(r.Base64)), length(r.Head), length(r.Comment), length(r.Why)
	r.Base64 = nil
}

// length stands for a text that is redacted.
func length(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("<%d bytes>", len(s))
}

// isJSON reports whether b is a JSON document, on one line or several.
func isJSON(b []byte) bool { return json.Valid(b) && utf8.Valid(b) }

func toValid(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }

// spoken reports whether a member's strings may be words of the protocols, which a
// redacted trace keeps. All others may be what people or agents have said.
func spoken(key string) bool {
	return slices.Contains([]string{"jsonrpc", "id", "method", "kind", "state", "role", "type", "status", "version",
		"taskid", "contextid", "messageid", "artifactid", "sessionid", "toolcallid", "callid", "elicitationid",
		"sessionupdate", "stopreason", "outcome", "optionid", "selectedoptionid", "currentmodeid", "modeid",
		"protocolversion", "preferredtransport", "transport", "protocolbinding", "timestamp", "toolname",
		"mimetype", "mediatype", "phase", "configid"}, plain(key))
}

// isWord reports whether a text may be a word of the protocols or an ID, as it is written in JSON:
// agents use the names of spoken for sentences of their own, too.
func isWord(text []byte) bool {
	return !bytes.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' })
}

// redact returns a payload with each text replaced by its length.
func redact(b []byte, valid bool) (dst []byte) {
	if !valid {
		return fmt.Appendf(nil, "<%d bytes>", len(b))
	}
	type level struct {
		object, isKey bool
		key           string // of the current member; of a list, the list's own
	}
	stack := []level{{}}
	for i := 0; i < len(b); {
		in := &stack[len(stack)-1]
		switch c := b[i]; c {
		case '{', '[':
			stack = append(stack, level{c == '{', c == '{', in.key})
		case '}', ']':
			stack = stack[:len(stack)-1]
		case ',':
			in.isKey = in.object
		case ':':
			in.isKey = false
		case '"':
			end := stringEnd(b, i)
			text := b[i+1 : end-1]
			switch {
			case in.isKey:
				in.key = string(text)
				dst = append(dst, b[i:end]...)
			case spoken(in.key) && isWord(text) || len(text) == 0 || string(text) == masked:
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

package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// WriteRedacted writes the rest of a trace as --trace-redact would have recorded it:
// with the lengths of texts in their place.
func WriteRedacted(r *Reader, w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	e := newEncoder(&Options{Redact: true})
	for record, err := range r.All() {
		if err != nil {
			return err
		}
		record.redact(e)
		if err := encoder.Encode(struct {
			N    int64  `json:"n"`
			Time string `json:"t"` // with all its digits, as in other traces
			*Record
		}{record.N, record.Time.UTC().Format("2006-01-02T15:04:05.000000Z"), record}); err != nil {
			return err
		}
	}
	return nil
}

func (r *Record) redact(e *encoder) {
	r.Redact = r.Kind == KindStart
	if payload, _ := r.Payload(); len(payload) > 0 {
		r.Masked = true
	}
	text := r.Text + string(r.Base64)
	if isDocument(r.JSON) {
		r.JSON = e.mask.json(r.JSON, maxNested)
	} else { // there is none, or it is nested too deep
		text, r.JSON = text+string(r.JSON), nil
	}
	r.ID, r.Method = e.mask.idOrMethod(r.ID), rawjson.Text(rawjson.View(e.mask.idOrMethod(rawjson.AppendString(nil, r.Method))))
	r.Text, r.Base64 = sizeMark(text), nil
	r.Head, r.Comment, r.Why = sizeMark(r.Head), sizeMark(r.Comment), sizeMark(r.Why)
}

// sizeMark returns what stands in place of a redacted text; "" for an empty one.
func sizeMark(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("<%d bytes>", len(s))
}

// isJSON reports whether b is a JSON document, on one line or several.
func isJSON(b []byte) bool { return json.Valid(b) && utf8.Valid(b) }

// isProtocolMember reports whether a member's strings may be words of the protocols, which a
// redacted trace keeps. All others may be what people or agents have said.
func isProtocolMember(key string) bool {
	return slices.Contains([]string{"jsonrpc", "id", "method", "kind", "state", "role", "type", "status", "version",
		"taskid", "contextid", "messageid", "artifactid", "sessionid", "toolcallid", "callid", "elicitationid",
		"sessionupdate", "stopreason", "outcome", "optionid", "selectedoptionid", "currentmodeid", "modeid",
		"protocolversion", "preferredtransport", "transport", "protocolbinding", "timestamp", "toolname",
		"mimetype", "mediatype", "defaultinputmodes", "defaultoutputmodes", "inputmodes", "outputmodes", "acceptedoutputmodes",
		"extensions", "phase", "configid"}, normalName(key))
}

// redacts reports whether a text is replaced by its length. In a member of the protocols it
// may be a word of theirs, an ID or a media type, but agents write sentences there, too.
func redacts(text []byte, protocol bool) bool {
	isProse := func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' } // quotes: JSON in a string
	return len(text) > 0 && (!protocol || bytes.ContainsFunc(bytes.ReplaceAll(text, []byte("; "), []byte(";")), isProse))
}

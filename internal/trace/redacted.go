package trace

import (
	"encoding/json"
	"fmt"
	"io"
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
	length := func(s string) string {
		if s == "" {
			return ""
		}
		return fmt.Sprintf("<%d bytes>", len(s))
	}
	r.Redact = r.Kind == KindStart
	if payload, _ := r.Payload(); len(payload) > 0 {
		r.Masked = true
	}
	if r.JSON != nil {
		r.JSON = redact(nil, r.JSON, true)
	}
	r.Text, r.Head, r.Comment = length(r.Text+string(r.Base64)), length(r.Head), length(r.Comment)
	r.Base64 = nil
}

package trace

import (
	"io"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// WriteRedacted writes the rest of a trace as --trace-redact would have recorded it:
// with the lengths of texts in their place.
func WriteRedacted(r *Reader, w io.Writer) error {
	var b []byte
	for _, err := range r.All() {
		if err != nil {
			return err
		}
		if b = redacted(b[:0], r.Line()); len(b) == 0 {
			continue
		}
		b = append(b, '\n')
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// redacted appends a line of a trace, without its newline, as --trace-redact would have
// written it. It skips lines that are no records.
func redacted(dst, line []byte) []byte {
	var r Record
	if !isJSON(line) || r.Decode(line) != nil {
		return dst
	}
	dst = append(dst, '{')
	s, first := rawjson.View(line), true
	rawjson.Walk(s, 0, func(key string, at int) int {
		end := rawjson.SkipValue(s, at)
		value := line[at:end]
		switch key {
		case "json":
			value = redact(nil, value, gjson.ValidBytes(value))
		case "text", "head", "base64", "comment":
			value = redact(nil, value, true)
		case "why", "error":
			if r.Kind == KindStderr {
				value = redact(nil, value, true)
			}
		case "masked", "redact":
			return end
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(strconv.AppendQuote(dst, key), ':'), value...)
		if key == "json" || key == "text" || key == "head" || key == "base64" {
			dst = append(dst, `,"masked":true`...)
		}
		if key == "format" {
			dst = append(dst, `,"redact":true`...)
		}
		return end
	})
	return append(dst, '}')
}

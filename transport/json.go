package transport

import (
	"bytes"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// repairText makes text of what only looks like it, so that no reader further
// on chokes: bytes that are not UTF-8 become U+FFFD, as the event stream
// standard has it, and so do escapes of half a surrogate pair (\ud83d), which
// agents in JavaScript send when they split a text between two UTF-16 units and
// which strict parsers (Rust's serde_json, and so Zed) refuse. The latter is
// done in place: the escapes are equally long.
func repairText(b []byte) []byte {
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	for i := 0; ; {
		k := bytes.IndexByte(b[i:], '\\')
		if k < 0 {
			return b
		}
		i += k
		switch unit := rawjson.EscapedUnit(rawjson.View(b[i:])); {
		case unit < 0xD800 || unit > 0xDFFF:
			// An escape of something else; \\ is two bytes, so that the second
			// does not begin one.
			i = min(i+2, len(b))
		case unit < 0xDC00 && rawjson.EscapedUnit(rawjson.View(b[i+6:]))&^0x3FF == 0xDC00:
			i += 12
		default:
			copy(b[i:], `\ufffd`)
			i += 6
		}
	}
}

// jsonText returns the text of a string value, without a copy unless it has
// escapes. Numbers come back as they are written, because some agents number
// their tasks; anything else is "".
func jsonText(raw string) string {
	if raw != "" && (raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9') {
		return raw
	}
	return rawjson.Text(raw)
}

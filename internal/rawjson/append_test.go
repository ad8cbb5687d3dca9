package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzAppendString: whatever the text, the JSON string is one line of valid
// JSON and valid UTF-8, and reads back as the text, but for bytes that are not
// UTF-8.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\\n\r\t\x00\x1f", "é 世界 🌍", "\xff\xc3", "\u2028\u2029", "a\xed\xa0\x80b", "\x7f", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		var want strings.Builder
		for _, r := range s { // a range decodes each bad byte as U+FFFD
			want.WriteRune(r)
		}
		if back != want.String() {
			t.Fatalf("%q became %q", s, back)
		}
		if !utf8.Valid(got) || bytes.ContainsAny(got, "\n\r") || strings.ContainsAny(string(got), "\u2028\u2029") {
			t.Fatalf("%q is not a line of UTF-8", got)
		}
	})
}

// FuzzAppendValue: a value from outside becomes one line of valid JSON.
func FuzzAppendValue(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,"x"]}`, "[\n1\n]", `{"s":"\ud800"}`, "\"\xff\"", "1e999", `{"a":1}{`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			return // transport lets nothing else in
		}
		got := AppendValue(nil, s)
		if !json.Valid(got) || !utf8.Valid(got) || bytes.ContainsAny(got, "\n\r") {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

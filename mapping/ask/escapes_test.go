package ask

import (
	"regexp"
	"strings"
	"testing"
)

// sequences are those that terminals act on (ECMA-48, and xterm's strings).
var sequences = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]?|[\\]PX^_](?s:.*?)(?:\x07|\x1b\\\\|\\z)|[ -/]*[0-~]?)")

// FuzzWithoutEscapes: no escape character is left, text without one stays as it is, and the
// result is that of the reference, which follows the standard's text.
func FuzzWithoutEscapes(f *testing.F) {
	for _, s := range []string{
		"plain", "\x1b[31mred\x1b[0m", "\x1b[1;38;5;200mx", "\x1b]0;title\x07y", "\x1b]8;;http://e\x1b\\link\x1b]8;;\x1b\\",
		"\x1b(Bx", "\x1bMx", "\x1b[?25hx", "\x1b", "\x1b[", "\x1b[3", "\x1b]8;;never", "\x1b[\x1b[0m", "\x1bé",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := WithoutEscapes(text)
		if strings.ContainsRune(got, escape) {
			t.Errorf("%q keeps an escape: %q", text, got)
		}
		if !strings.ContainsRune(text, escape) && got != text {
			t.Errorf("%q becomes %q", text, got)
		}
		if want := sequences.ReplaceAllString(text, ""); got != want {
			t.Errorf("%q becomes %q, and not %q", text, got, want)
		}
	})
}

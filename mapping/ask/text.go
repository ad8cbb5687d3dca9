package ask

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file is for text that people read, in whatever editor.

// Named is a name for people, who would not see that it is empty.
func Named(s string) string { return cmp.Or(s, "(no name)") }

// TitleMax is how much of a command or an argument a title takes: a line of an
// editor's panel.
const TitleMax = 200

// OneLine returns the first line of a text, shortened, with all its characters made visible.
func OneLine(s string) string {
	s, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	s = Visible(s)
	if len(s) > TitleMax {
		s, more = strings.ToValidUTF8(s[:TitleMax], ""), true
	}
	if more {
		s += " …"
	}
	if s == "" {
		return "tool"
	}
	return s
}

// Split divides text at most n bytes in, not inside a character.
func Split(text string, n int) (head, rest string) {
	if len(text) <= n {
		return text, ""
	}
	for back := 0; back < utf8.UTFMax && !utf8.RuneStart(text[n]); back++ {
		n--
	}
	return text[:n], text[n:]
}

// MoreNote says how much was left out.
func MoreNote(n int) string { return "\n[" + strconv.Itoa(n) + " bytes more are not shown]" }

// LongestRow is the length of the longest row of b in s.
func LongestRow(s string, b byte) (longest int) {
	for {
		at := strings.IndexByte(s, b)
		if at < 0 {
			return longest
		}
		s = s[at:]
		n := 1
		for n < len(s) && s[n] == b {
			n++
		}
		longest, s = max(longest, n), s[n:]
	}
}

// Visible returns text with every character made visible that does not show by
// itself, or that changes how others show: control characters but for line feeds
// and tabs, bidirectional overrides, zero-width and tag characters, selectors of
// variants. They are written as \u{…}.
func Visible(s string) string {
	if countHidden(s) == 0 {
		return s
	}
	var b strings.Builder
	before := rune(0)
	for _, r := range s {
		if hidden(before, r) {
			fmt.Fprintf(&b, `\u{%X}`, r)
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

func countHidden(s string) (n int) {
	before := rune(0)
	for _, r := range s {
		if hidden(before, r) {
			n++
		}
		before = r
	}
	return n
}

// hidden reports whether a character does not show, or reorders others. (Cf are
// Unicode's format characters: overrides, joiners, tags. The joiner and the selectors
// that make emoji, and the joiner of some scripts, are left alone behind characters of
// such: behind a Latin letter they can only hide.)
func hidden(before, r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7F:
		return false
	case r == '\u200D' || r == '\uFE0E' || r == '\uFE0F':
		return before < 0x300
	case r == '\u2028' || r == '\u2029' || r == '\u115F' || r == '\u1160' || r == '\u3164' || r == '\uFFA0',
		r == '\u034F' || r == '\u17B4' || r == '\u17B5' || r == '\u2800':
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r)
}

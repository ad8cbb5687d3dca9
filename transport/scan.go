package transport

import (
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// A scanned is what [scanString] tells of a string.
type scanned struct {
	end     int  // the index after its closing quote; 0: it may not be taken as it is
	escaped bool // it has escapes
	plain   bool // see [plain]
}

// shortText is how much of a string is looked at without the assembler, where it is likely to be
// short: names and IDs end before its calls pay off.
const shortText = 64

// scanString scans the string whose opening quote is at i. It may be taken as it is if it is valid and
// [repairText] would leave it alone. long: it is likely to be long, as the one in its place was before.
//
// It looks for quotes and backslashes with the library's assembler, and has what is between them looked
// at eight bytes at once: a text is read by every layer once, and this is the only one that reads each byte.
func scanString(s string, i int, long bool) (seen scanned) {
	if i >= len(s) || s[i] != '"' {
		return scanned{}
	}
	i++
	if !long {
		near := min(i+shortText, len(s))
		if i = rawjson.SkipPlain(s[:near], i); i < near && s[i] == '"' {
			return scanned{end: i + 1, plain: true}
		}
	}
	quote := strings.IndexByte(s[i:], '"')
	if quote < 0 {
		return scanned{}
	}
	quote += i
	seen.plain = true
	for {
		escape := strings.IndexByte(s[i:quote], '\\')
		run := s[i:quote]
		if escape >= 0 {
			run = run[:escape]
		}
		ascii, ok := rawjson.ScanRun(run)
		if !ok {
			return scanned{}
		}
		seen.plain = seen.plain && (ascii || plain(run))
		if escape < 0 {
			seen.end = quote + 1
			return seen
		}
		seen.escaped = true
		if i = scanEscapes(s, i, i+escape); i == 0 {
			return scanned{}
		}
		if i <= quote {
			continue
		}
		// The quote was escaped.
		if quote = strings.IndexByte(s[i:], '"'); quote < 0 {
			return scanned{}
		}
		quote += i
	}
}

// scanEscapes returns the index after the escape at i, and after those that follow close behind it; 0 if
// one of them may not be taken as it is. Where escapes come close together, as in code, a search for each
// costs more than to look at each byte. Between from and i there is none, which tells how close they are.
func scanEscapes(s string, from, i int) int {
	near := 32
	if i-from >= near {
		near = 1
	}
	for until := i + near; i < len(s) && i < until; {
		switch c := s[i]; {
		case c == '\\':
			n := scanEscape(s[i:])
			if n == 0 {
				return 0
			}
			i += n
			until = i + near
		case c == '"' || c < ' ' || c >= utf8.RuneSelf:
			return i
		default:
			i++
		}
	}
	return i
}

// plain reports whether a valid string has neither U+2028 nor U+2029, which some readers of lines of
// JSON take for line ends.
func plain(s string) bool {
	const lead = '\xE2' // of both
	return strings.IndexByte(s, lead) < 0 || !strings.Contains(s, "\u2028") && !strings.Contains(s, "\u2029")
}

// scanEscape returns the length of the escape at the start of s; 0 if it is none,
// or one of NUL or of half a surrogate pair, which are not taken as they are.
func scanEscape(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		switch unit := rawjson.EscapedUnit(s); {
		case unit == 0 || 0xDC00 <= unit && unit <= 0xDFFF:
		case unit < 0xD800 || unit > 0xDFFF:
			return 6
		case rawjson.EscapedUnit(s[6:])&^0x3FF == 0xDC00:
			return 12
		}
	}
	return 0
}

// scanNatural returns the index after the number at i: digits, and nothing else;
// 0 if there is none.
func scanNatural(s string, i int) (end int) {
	for end = i; end < len(s) && '0' <= s[end] && s[end] <= '9'; end++ {
	}
	if end == i || s[i] == '0' && end > i+1 {
		return 0
	}
	return end
}

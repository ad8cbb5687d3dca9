package ask

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
		b.WriteString(visible(before, r))
		before = r
	}
	return b.String()
}

// visible is how a character is shown behind another.
func visible(before, r rune) string {
	if hidden(before, r) {
		return fmt.Sprintf(`\u{%X}`, r)
	}
	return string(r)
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

// hidden reports whether a character does not show, or reorders others: all of Unicode's
// Default_Ignorable_Code_Point, and the blanks that are no spaces. (The joiner and the
// selectors that make emoji, and the joiner of some scripts, are left alone behind
// characters of such: behind a Latin letter they can only hide.)
func hidden(before, r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7F:
		return false
	case r == '\u200D' || r == '\uFE0E' || r == '\uFE0F':
		return before < 0x300
	case r == '\u2028' || r == '\u2029' || r == '\u2800':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// beginning returns the beginning of a text, made visible: at most limit characters.
// read is how many bytes of the text that is.
func beginning(text string, limit int) (shown string, read int) {
	if len(text) <= limit && countHidden(text) == 0 { // most
		return text, len(text)
	}
	var b strings.Builder
	before := rune(0)
	for i, r := range text {
		v := visible(before, r)
		if limit -= utf8.RuneCountInString(v); limit < 0 {
			return b.String(), i
		}
		b.WriteString(v)
		before = r
	}
	return b.String(), len(text)
}

// ends returns a text, made visible. Of a text of more than limit characters the
// middle is left out, which is said in its place; left is how many characters that is.
func ends(text string, limit int) (shown string, left int) {
	shown, read := beginning(text, limit)
	if read == len(text) {
		return shown, 0
	}
	head, read := beginning(text, limit/2)
	from, room := len(text), limit/2
	for from > read {
		r, n := utf8.DecodeLastRuneInString(text[:from])
		before, _ := utf8.DecodeLastRuneInString(text[:from-n])
		if room -= utf8.RuneCountInString(visible(before, r)); room < 0 {
			break
		}
		from -= n
	}
	left = utf8.RuneCountInString(text[read:from])
	return head + fmt.Sprintf(" [… %s are not shown here …] ", characters(left)) + Visible(text[from:]), left
}

// start returns a text, made visible, without what is beyond limit characters.
func start(text string, limit int) string {
	shown, read := beginning(text, limit)
	if read < len(text) {
		shown += fmt.Sprintf(" [… %s more are not shown]", characters(utf8.RuneCountInString(text[read:])))
	}
	return shown
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits + " characters"
}

// lookalikes are scripts whose letters look like those of others. Others are mixed in
// ordinary words, as Japanese does.
var lookalikes = []struct {
	name  string
	table *unicode.RangeTable
}{
	{"Latin", unicode.Latin}, {"Cyrillic", unicode.Cyrillic}, {"Greek", unicode.Greek}, {"Armenian", unicode.Armenian},
	{"Cherokee", unicode.Cherokee}, {"Coptic", unicode.Coptic}, {"Lisu", unicode.Lisu}, {"Georgian", unicode.Georgian},
}

// mixedWord returns the first word of a text whose letters are of two scripts that look
// alike, written so that it can be told which, and their names; "" if there is none.
func mixedWord(text string) (word, scripts string) {
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return "", "" // most
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		var names []string
		var spelled strings.Builder
		for _, r := range word {
			if r < utf8.RuneSelf {
				spelled.WriteRune(r)
			} else {
				fmt.Fprintf(&spelled, `\u{%X}`, r)
			}
			if s := scriptOf(r); s != "" && !slices.Contains(names, s) {
				names = append(names, s)
			}
		}
		if len(names) > 1 {
			return spelled.String(), strings.Join(names, " and ")
		}
	}
	return "", ""
}

func scriptOf(r rune) string {
	for _, s := range lookalikes {
		if unicode.Is(s.table, r) {
			return s.name
		}
	}
	return ""
}

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
// variants, marks that are drawn over what they do not belong to. They are written as \u{…}.
func Visible(s string) string {
	if countHidden(s) == 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		b.WriteString(visibleRune(s[:i], r))
	}
	return b.String()
}

// visibleRune is how a character is shown behind a text.
func visibleRune(before string, r rune) string {
	if isHidden(before, r) {
		return escaped(r)
	}
	return string(r)
}

func escaped(r rune) string { return fmt.Sprintf(`\u{%X}`, r) }

// countHidden counts the characters of a text that are hidden.
func countHidden(s string) (n int) {
	for i, r := range s {
		if isHidden(s[:i], r) {
			n++
		}
	}
	return n
}

// isHidden reports whether a character does not show behind a text, or reorders others: all of
// Unicode's Default_Ignorable_Code_Point, and the blanks that are no spaces. (The joiner and
// the selectors that make emoji, and the joiner of some scripts, are left alone behind
// characters of such: behind others they can only hide.)
func isHidden(before string, r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7F:
		return false
	case r == '\uFE0E' || r == '\uFE0F':
		return !takesVariant(lastRune(before))
	case r == '\u200D':
		return !takesVariant(lastRune(before)) && lastRune(before) != '\uFE0F' && !unicode.In(lastRune(before), joining...)
	case r == '\u2028' || r == '\u2029' || r == '\u2800':
		return true
	case unicode.In(r, unicode.Mn, unicode.Me) && drawnOver(before, r):
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// lastRune is the last character of a text, 0 if it has none.
func lastRune(text string) rune {
	if text == "" {
		return 0
	}
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// takesVariant reports whether a character may be an emoji.
func takesVariant(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.IsSymbol(r) || strings.ContainsRune("ℹ‼⁉〰", r))
}

// joining are the scripts whose letters a joiner joins.
var joining = []*unicode.RangeTable{unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
	unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Myanmar, unicode.Khmer}

// maxMarks is how many marks a letter has at most in any script; more are piled over the lines around.
const maxMarks = 4

// drawnOver reports whether a mark is drawn over what has a meaning of its own, or over other lines, or
// does not show: behind a sign of ASCII ("≯" is no redirection), on too many others, or a dot on an i.
func drawnOver(before string, mark rune) bool {
	base := lastRune(before)
	if base < utf8.RuneSelf && !unicode.IsLetter(base) && !unicode.IsDigit(base) || mark == '\u0307' && (base == 'i' || base == 'j') {
		return true
	}
	for range maxMarks {
		r, n := utf8.DecodeLastRuneInString(before)
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			return false
		}
		before = before[:len(before)-n]
	}
	return true
}

// beginning returns the beginning of a text, made visible: at most limit characters.
// read is how many bytes of the text that is.
func beginning(text string, limit int) (shown string, read int) {
	if len(text) <= limit && countHidden(text) == 0 { // most
		return text, len(text)
	}
	var b strings.Builder
	for i, r := range text {
		v := visibleRune(text[:i], r)
		if limit -= utf8.RuneCountInString(v); limit < 0 {
			return b.String(), i
		}
		b.WriteString(v)
	}
	return b.String(), len(text)
}

// beginningAndEnd returns a text, made visible. Of a text of more than limit characters the
// middle is left out, which is said in its place; left is how many characters that is.
func beginningAndEnd(text string, limit int) (shown string, left int) {
	shown, read := beginning(text, limit)
	if read == len(text) {
		return shown, 0
	}
	head, read := beginning(text, limit/2)
	from, room := len(text), limit/2
	for from > read {
		r, n := utf8.DecodeLastRuneInString(text[:from])
		if room -= utf8.RuneCountInString(visibleRune(text[:from-n], r)); room < 0 {
			break
		}
		from -= n
	}
	left = utf8.RuneCountInString(text[read:from])
	return head + fmt.Sprintf(" [… %s are not shown here …] ", characters(left)) + Visible(text[from:]), left
}

// escapeBlanks makes blanks visible that look like a space, and are none to what reads a command or a path.
func escapeBlanks(text string) string {
	isBlank := func(r rune) bool { return r != ' ' && unicode.Is(unicode.Zs, r) }
	if strings.IndexFunc(text, isBlank) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isBlank(r) {
			b.WriteString(escaped(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// beginningOnly returns a text, made visible, without what is beyond limit characters, which is said.
func beginningOnly(text string, limit int) string {
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
				spelled.WriteString(escaped(r))
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

// scriptOf is the script of a letter, if that is one of the lookalikes; else "".
func scriptOf(r rune) string {
	for _, s := range lookalikes {
		if unicode.Is(s.table, r) {
			return s.name
		}
	}
	return ""
}

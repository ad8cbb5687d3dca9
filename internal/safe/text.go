package safe

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/xrash/smetrics"
)

// Plain makes foreign text safe for a terminal: it replaces control characters, and what
// turns the direction of text, by symbols. Newlines and tabs stay.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ':
			return r + '␀' // Unicode has a picture of each, in the same order
		case r == 0x7f:
			return '␡'
		case r >= 0x80 && r < 0xa0, // C1: 0x9b begins a sequence like ESC [
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return '�'
		}
		return r
	}, s)
}

// Line makes foreign text one plain line of at most limit bytes.
func Line(s string, limit int) string {
	s = Plain(strings.Join(strings.Fields(strings.ToValidUTF8(s, "�")), " "))
	if len(s) <= limit {
		return s
	}
	for !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// Short makes one line of a text, of at most limit letters.
func Short(s string, limit int) string {
	if len(s) > 16*limit { // most of it is not looked at
		s = strings.ToValidUTF8(s[:16*limit], "")
	}
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// ShellWord quotes a word for a POSIX shell, where that is needed.
func ShellWord(s string) string {
	special := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r))
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// VariableName reports whether a shell could have a variable of this name.
func VariableName(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// HeaderName reports whether a name is valid for a header (RFC 9110, §5.6.2), and
// HeaderValue whether a value can be one's.
func HeaderName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r)
	})
}

func HeaderValue(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// Nearest returns the name that a word was probably meant to be, "" if none is near. It
// uses the Jaro-Winkler similarity, which counts swapped letters as a small difference.
// 0.85 allows one error in a short word.
func Nearest(word string, names []string) string {
	best, likeness := "", 0.85
	for _, name := range names {
		if l := smetrics.JaroWinkler(word, name, 0.7, 4); l > likeness {
			best, likeness = name, l
		}
	}
	return best
}

// FileName turns what an agent calls a file into a name: the last element of a path,
// without characters that mean something else to a file system. (A shell is another matter.)
func FileName(s string) string {
	s = strings.ToValidUTF8(s, "_")
	s = s[strings.LastIndexAny(s, `/\`)+1:]
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(`<>:"|?*`, r) || Plain(string(r)) != string(r) {
			return '_'
		}
		return r
	}, s)
	s = strings.TrimRight(s, ". ")
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "-") {
		// A leading dot would hide the file, or have a program read it; a hyphen begins an
		// option.
		s = "_" + s[1:]
	}
	if len(s) > maxFileName {
		ext := path.Ext(s)
		if len(ext) > maxExtension {
			ext = ""
		}
		s = strings.ToValidUTF8(s[:maxFileName-len(ext)], "") + ext
	}
	return s
}

const (
	// maxFileName is what file systems take, in bytes, less room for suffixes.
	maxFileName = 200
	// maxExtension is how long the end of a name may be that a cut keeps.
	maxExtension = 16
)

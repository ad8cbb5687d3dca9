package safe

import (
	"path"
	"strings"
	"unicode"
)

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

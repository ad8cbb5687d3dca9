package transport

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// cleanJSON reports, in one pass, whether s is one JSON value that is safe to walk and
// that repairText would leave as it is. It may return false for a value that is (a deep
// one, a text with escaped NULs): the caller then uses repairText and rawjson.Valid,
// which are slower. What is known from its source was part of such a value; objects nest
// no deeper than fastpath.Source takes.
func cleanJSON(s string, from *fastpath.Source) bool {
	end := cleanValue(s, rawjson.SkipSpace(s, 0), 0, from)
	return end > 0 && rawjson.SkipSpace(s, end) == len(s)
}

// cleanDepth is how deep cleanJSON goes. Agents nest some ten levels.
const cleanDepth = 64

// cleanValue returns the index after the value at i, 0 if there is none.
func cleanValue(s string, i, depth int, from *fastpath.Source) int {
	if i >= len(s) || depth > cleanDepth {
		return 0
	}
	switch s[i] {
	case '"':
		if from != nil && from.Begun != "" && strings.HasPrefix(s[i:], from.Begun) {
			return scanText(s, i+len(from.Begun)).end
		}
		return scanString(s, i).end
	case '{', '[':
		if end := rawjson.KnownAt(s, i, from.Objects()); end > i {
			return end
		}
		return cleanMembers(s, i, depth+1, from)
	}
	end := i // of a word, or of a number
	for end < len(s) && strings.IndexByte(",]} \t\r\n", s[end]) < 0 {
		end++
	}
	if !gjson.Valid(s[i:end]) {
		return 0
	}
	return end
}

// cleanMembers takes an object or an array.
func cleanMembers(s string, i, depth int, from *fastpath.Source) int {
	object := s[i] == '{'
	closing := s[i] + 2
	if i = rawjson.SkipSpace(s, i+1); i < len(s) && s[i] == closing {
		return i + 1
	}
	for {
		if object {
			if i = scanString(s, i).end; i == 0 {
				return 0
			}
			if i = rawjson.SkipSpace(s, i); i >= len(s) || s[i] != ':' {
				return 0
			}
			i = rawjson.SkipSpace(s, i+1)
		}
		if i = cleanValue(s, i, depth, from); i == 0 {
			return 0
		}
		i = rawjson.SkipSpace(s, i)
		switch {
		case i >= len(s):
			return 0
		case s[i] == closing:
			return i + 1
		case s[i] != ',':
			return 0
		}
		i = rawjson.SkipSpace(s, i+1)
	}
}

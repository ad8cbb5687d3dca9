package transport

import "github.com/a2astdio/a2astdio/internal/rawjson"

// cleanJSON reports, in one pass, whether s is one JSON value that is safe to walk and
// that repairText would leave as it is. It may return false for a value that is (a deep
// one, a text with escaped NULs): the caller then uses repairText and rawjson.Valid,
// which are slower. Objects that are known were part of such a value; they nest no deeper
// than fastpath.Source takes.
func cleanJSON(s string, known []string) bool {
	end := cleanValue(s, rawjson.SkipSpace(s, 0), 0, known)
	return end > 0 && rawjson.SkipSpace(s, end) == len(s)
}

// cleanDepth is how deep cleanJSON goes. Agents nest some ten levels.
const cleanDepth = 64

// cleanValue returns the index after the value at i, 0 if there is none.
func cleanValue(s string, i, depth int, known []string) int {
	if i >= len(s) || depth > cleanDepth {
		return 0
	}
	switch s[i] {
	case '"':
		return scanString(s, i).end
	case '{', '[':
		if end := rawjson.KnownAt(s, i, known); end > i {
			return end
		}
		return cleanMembers(s, i, depth+1, known)
	case 't':
		return cleanWord(s, i, "true")
	case 'f':
		return cleanWord(s, i, "false")
	case 'n':
		return cleanWord(s, i, "null")
	}
	return cleanNumber(s, i)
}

// cleanMembers takes an object or an array.
func cleanMembers(s string, i, depth int, known []string) int {
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
		if i = cleanValue(s, i, depth, known); i == 0 {
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

func cleanWord(s string, i int, word string) int {
	if len(s)-i < len(word) || s[i:i+len(word)] != word {
		return 0
	}
	return i + len(word)
}

func cleanNumber(s string, i int) int {
	if s[i] == '-' {
		i++
	}
	if i = scanNatural(s, i); i == 0 {
		return 0
	}
	if i < len(s) && s[i] == '.' {
		if i = cleanDigits(s, i+1); i == 0 {
			return 0
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		return cleanDigits(s, i)
	}
	return i
}

func cleanDigits(s string, i int) int {
	end := i
	for end < len(s) && '0' <= s[end] && s[end] <= '9' {
		end++
	}
	if end == i {
		return 0
	}
	return end
}

package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxProblems bounds the reported problems of a file: a binary file has thousands.
const maxProblems = 10

// A Problem is a fault in a file. The errors of this package are Problems, several of
// them joined.
type Problem struct {
	File string
	Line int // 0 if it is about the whole file
	Text string
}

func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// joined joins problems; nil if there are none.
func joined(problems []error) error {
	if extra := len(problems) - maxProblems; extra > 0 {
		problems = append(problems[:maxProblems:maxProblems], fmt.Errorf("and %d more", extra))
	}
	return errors.Join(problems...)
}

// quoted lists words for a sentence.
func quoted(words []string) string {
	for i := range words {
		words[i] = strconv.Quote(words[i])
	}
	return strings.Join(words, ", ")
}

// shown is a file's word for a sentence: short, on one line.
func shown(word []byte) string {
	const enough = 60
	if len(word) > enough {
		return strconv.Quote(string(word[:enough])) + "…"
	}
	return strconv.Quote(string(word))
}

package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxProblems is how many problems of a file are said: a binary file has
// thousands.
const maxProblems = 10

// A Problem is something in a file that cannot be taken as it is. The errors of
// this package are Problems, several of them joined.
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

// joined makes one error of problems, nil of none.
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

// shown is a word of a file in a sentence: short, and on one line.
func shown(word []byte) string {
	const enough = 60
	if len(word) > enough {
		return strconv.Quote(string(word[:enough])) + "…"
	}
	return strconv.Quote(string(word))
}

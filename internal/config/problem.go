package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxProblems bounds the reported problems of a file.
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

// joined joins problems, those of each file by their lines; nil if there are none.
func joined(files ...[]*Problem) error {
	var all []error
	for _, problems := range files {
		slices.SortStableFunc(problems, func(a, b *Problem) int { return a.Line - b.Line })
		for _, p := range problems[:min(len(problems), maxProblems)] {
			all = append(all, p)
		}
		if extra := len(problems) - maxProblems; extra > 0 {
			all = append(all, fmt.Errorf("and %d more", extra))
		}
	}
	return errors.Join(all...)
}

// quoted lists words for a sentence.
func quoted(words []string) string {
	list := make([]string, len(words))
	for i := range words {
		list[i] = strconv.Quote(words[i])
	}
	return strings.Join(list, ", ")
}

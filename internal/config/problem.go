package config

import (
	"fmt"
	"strconv"
	"strings"
)

// A Problem is a fault in a file. The errors of this package are Problems: the first one, by
// its line, of a file.
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

// quoted lists words for a sentence.
func quoted(words []string) string {
	list := make([]string, len(words))
	for i := range words {
		list[i] = strconv.Quote(words[i])
	}
	return strings.Join(list, ", ")
}

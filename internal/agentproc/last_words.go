package agentproc

import (
	"strings"

	"github.com/a2astdio/a2astdio/internal/safe"
)

const (
	// maxWords bounds the agent's output in an error: some lines of a dialog. The log has
	// all of it.
	maxWords = 300
	maxLines = 3
)

// lastWords returns the useful end of the agent's output on one line: the first line that
// names an error and what follows it, or else the last lines.
func (o *output) lastWords() string {
	o.mu.Lock()
	tail := string(o.tail)
	o.mu.Unlock()
	var lines []string
	from := -1
	for line := range strings.FieldsFuncSeq(escapes().ReplaceAllString(tail, ""), func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = safe.Line(line, maxWords)
		if line == "" || strings.HasPrefix(line, "at ") { // a stack frame of Node's
			continue
		}
		if from < 0 && strings.Contains(strings.ToLower(line), "error") {
			from = len(lines)
		}
		lines = append(lines, line)
	}
	if from < 0 {
		from = max(0, len(lines)-maxLines)
	}
	return safe.Line(strings.Join(lines[from:min(len(lines), from+maxLines)], " | "), maxWords)
}

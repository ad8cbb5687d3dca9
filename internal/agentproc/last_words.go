package agentproc

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxWords bounds the agent's output in an error: some lines of a dialog. The log has
	// all of it.
	maxWords = 300
	// maxLines bounds these lines; lookBack is how many of the last lines are searched for
	// one that names an error.
	maxLines = 3
	lookBack = 25
)

// lastWords returns the useful end of the agent's output on one line: the line that
// names an error and what follows it, or else the last lines. It drops stack frames and
// control characters.
func (o *output) lastWords() string {
	o.mu.Lock()
	tail := string(o.tail)
	cut := len(o.tail) == maxTail
	o.mu.Unlock()
	var lines []string
	for line := range strings.FieldsFuncSeq(escapes().ReplaceAllString(tail, ""), func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = oneLine(line); line != "" && !isNoise(line) {
			lines = append(lines, line)
		}
	}
	lines = lines[max(0, len(lines)-lookBack):]
	for i, line := range lines {
		if namesError(line) {
			return shorten(strings.Join(lines[i:min(len(lines), i+maxLines)], " | "))
		}
	}
	first := max(0, len(lines)-maxLines)
	words := strings.Join(lines[first:], " | ")
	if len(words) > maxWords {
		words, cut = strings.ToValidUTF8(words[len(words)-maxWords:], ""), true
	}
	if words != "" && (cut || first > 0) {
		words = "…" + words
	}
	return words
}

// oneLine is a line without control characters.
func oneLine(line string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, line))
}

func shorten(words string) string {
	if len(words) <= maxWords {
		return words
	}
	cut := maxWords
	for !utf8.RuneStart(words[cut]) {
		cut--
	}
	return words[:cut] + "…"
}

// isNoise reports whether a line is a stack frame, or tells nothing by itself: of Node,
// npm, Python, Go and Java.
func isNoise(line string) bool {
	for _, prefix := range []string{"at ", "File \"", "goroutine ", "Traceback (", "node:internal", "Node.js v", "throw ", "Require stack:", "exit status ",
		"npm notice", "npm error A complete log", "npm ERR! A complete log", "created by ", "... "} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return strings.Contains(line, ".go:") && strings.Contains(line, " +0x") ||
		!strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// namesError reports whether a line probably tells why a program has ended.
func namesError(line string) bool {
	lower := strings.ToLower(line)
	for _, word := range []string{"error", "panic:", "fatal", "exception", "cannot ", "can't ", "could not", "refused", "denied", "not found", "already in use",
		"no such ", "unable to", "missing", "failed", "invalid"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

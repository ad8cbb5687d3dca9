package agentproc

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/a2astdio/a2astdio/internal/safe"
)

const (
	// maxTail bounds the output that is kept for error messages: a long stack trace of
	// node's, with the error on top.
	maxTail = 4 << 10
	// maxLine cuts a line. Announcements of a URL are short; long lines are dumps.
	maxLine = 4 << 10
	// maxWords bounds the agent's output in an error: some lines of a dialog. The log has
	// all of it.
	maxWords = 300
	maxLines = 3
)

// An output takes what the agent prints: it hands on the lines, keeps the end, and searches
// for a URL until there is a card.
type output struct {
	print func(line string) // may be nil

	mu    sync.Mutex
	tail  []byte
	line  []byte           // the unfinished line
	watch func(url string) // nil when no URL is wanted any more
}

// Write implements [io.Writer].
func (o *output) Write(b []byte) (int, error) {
	all := len(b)
	o.mu.Lock()
	o.tail = append(o.tail, b...)
	if extra := len(o.tail) - maxTail; extra > 0 {
		o.tail = o.tail[:copy(o.tail, o.tail[extra:])]
	}
	var lines []string
	for {
		end := bytes.IndexAny(b, "\r\n")
		part := b
		if end >= 0 {
			part = b[:end]
		}
		o.line = append(o.line, part[:min(len(part), maxLine-len(o.line))]...)
		if end < 0 {
			break
		}
		lines = append(lines, string(o.line))
		o.line, b = o.line[:0], b[end+1:]
	}
	watch := o.watch
	o.mu.Unlock()
	for _, line := range lines {
		if o.print != nil && strings.TrimSpace(line) != "" {
			o.print(line)
		}
		if watch != nil {
			printedURLs(line, watch)
		}
	}
	return all, nil
}

func (o *output) unwatch() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.watch = nil
}

// lastWords returns the useful end of the agent's output on one line: the first line that
// names an error and what follows it, or else the last lines.
func (o *output) lastWords() string {
	o.mu.Lock()
	tail := string(o.tail)
	o.mu.Unlock()
	var lines []string
	from := -1
	for line := range strings.FieldsFuncSeq(colours().ReplaceAllString(tail, ""), func(r rune) bool { return r == '\n' || r == '\r' }) {
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

// colours are terminal colour sequences. They are compiled only for an agent's output:
// each start would pay for it.
var colours = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?)`)
})

// localURLs finds URLs of this machine. Servers that listen on all addresses print
// 0.0.0.0 or [::], which a client replaces by a name.
var localURLs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bhttp://(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):([0-9]{1,5})(/[^\s"'<>()\[\]{}|\\^` + "`" + `]*)?`)
})

// printedURLs calls found for each URL of this machine in a line, with its path and without.
func printedURLs(line string, found func(url string)) {
	for _, m := range localURLs().FindAllStringSubmatch(colours().ReplaceAllString(line, ""), -1) {
		host, path := strings.ToLower(m[1]), strings.TrimRight(m[3], ".,;:!/")
		switch host {
		case "0.0.0.0":
			host = "127.0.0.1"
		case "[::]":
			host = "[::1]"
		}
		// A card's own URL leads to what it is the card of.
		path, _, _ = strings.Cut(path, "/.well-known/")
		path, _, _ = strings.Cut(path, "?")
		path, _, _ = strings.Cut(path, "#")
		base := "http://" + host + ":" + m[2]
		if path = strings.TrimRight(path, "/"); path != "" {
			found(base + path)
		}
		found(base)
	}
}

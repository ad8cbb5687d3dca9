package agentproc

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// Words splits a command like [Options.Command]: into words as in a shell, but no shell
// runs it. It returns leading VAR=value words apart.
func Words(command string) (env, words []string, err error) {
	return splitWords(command, runtime.GOOS == "windows")
}

// Program returns the program that a command runs.
func Program(command string) (string, error) {
	_, words, err := Words(command)
	if err != nil {
		return "", err
	}
	return words[0], nil
}

// splitWords is Words for one system. Where a backslash is part of paths, as on Windows,
// it only quotes a double quote. What only a shell could do is refused: a "|" as an
// argument helps nobody. (Rejected: mattn/go-shellwords, which makes tabs and newlines of
// \t and \n, and passes $NAME on.)
func splitWords(command string, windows bool) (env, words []string, err error) {
	w := wordReader{windows: windows}
	rest := strings.TrimSpace(command)
	for rest != "" && err == nil {
		rest, err = w.next(rest)
	}
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("agent: the command %w; there is no shell: quote it, or start one with sh -c '…'", err)
	case w.quote != 0:
		return nil, nil, fmt.Errorf("agent: the command has a %c that is not closed", w.quote)
	}
	if w.end(); len(w.words) == 0 {
		return nil, nil, fmt.Errorf("agent: the command names no program")
	}
	return w.env, w.words, nil
}

type wordReader struct {
	windows bool
	env     []string // NAME=value before the program, with an unquoted name
	words   []string
	text    strings.Builder
	quote   byte // the quote that is open, or 0
	open    bool // a word has begun, if only with quotes
	bare    int  // how much of the word came before its first quote
	quoted  bool
}

// next reads a character, or a quoted one with its backslash.
func (w *wordReader) next(s string) (rest string, err error) {
	c, after := s[0], s[1:]
	switch {
	case c == '\\' && w.quote != '\'' && w.escapes(after):
		if after[0] != '\n' { // which continues the line
			w.markQuoted()
			w.text.WriteByte(after[0])
		}
		return after[1:], nil
	case c == '\\' && after == "" && !w.windows:
		return "", fmt.Errorf("ends in a backslash, which quotes nothing")
	case c == w.quote:
		w.quote = 0
	case w.quote == 0 && (c == '"' || c == '\''):
		w.markQuoted()
		w.quote = c
	case w.quote != '\'' && expands(c, after):
		return "", fmt.Errorf("has a %q, which only a shell expands", s[:min(len(s), 2)])
	case w.quote != 0:
		w.text.WriteByte(c)
	default:
		return after, w.bareword(c)
	}
	return after, nil
}

// bareword reads a character outside of quotes.
func (w *wordReader) bareword(c byte) error {
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		w.end()
	case strings.IndexByte("|&;<>()\n", c) >= 0:
		return fmt.Errorf("has a %q, which only a shell understands", c)
	case c == '~' && !w.open:
		return fmt.Errorf("has a word that begins with ~, which only a shell expands")
	default:
		w.open = true
		w.text.WriteByte(c)
	}
	return nil
}

// expands reports whether a shell would expand what begins here.
func expands(c byte, after string) bool {
	return c == '`' || c == '$' && after != "" && (strings.IndexByte("{(", after[0]) >= 0 || safe.VariableName(after[:1]))
}

// escapes reports whether a backslash quotes what follows it.
func (w *wordReader) escapes(after string) bool {
	switch {
	case after == "":
		return false
	case w.windows:
		return after[0] == '"'
	case w.quote == '"':
		return strings.IndexByte("$`\"\\\n", after[0]) >= 0
	}
	return true
}

func (w *wordReader) markQuoted() {
	if !w.quoted {
		w.bare = w.text.Len()
	}
	w.open, w.quoted = true, true
}

func (w *wordReader) end() {
	if !w.open {
		return
	}
	text := w.text.String()
	name, _, found := strings.Cut(text, "=")
	if found && len(w.words) == 0 && safe.VariableName(name) && (!w.quoted || len(name) < w.bare) {
		w.env = append(w.env, text)
	} else {
		w.words = append(w.words, text)
	}
	w.text.Reset()
	w.open, w.quoted, w.bare = false, false, 0
}

// parse splits the command, fills in the port, and makes relative paths absolute.
func (o *Options) parse(port string) (env, words []string, err error) {
	if env, words, err = Words(o.Command); err != nil {
		return nil, nil, err
	}
	for _, list := range [][]string{env, words} {
		for i := range list {
			list[i] = strings.ReplaceAll(list[i], "{port}", port)
		}
	}
	if path := Absolute(words, o.Base); path != "" {
		return nil, nil, fmt.Errorf("agent: %s is relative, but the agent does not run in your directory: write the whole path, "+
			"or --working-directory workspace (working-directory in the configuration)", path)
	}
	return env, words, nil
}

// Absolute makes the relative paths of a command absolute, from a base directory. Without
// one it returns the first of them.
func Absolute(words []string, base string) (relative string) {
	for i, word := range words {
		switch {
		case !isRelative(word, i == 0):
		case base == "":
			return word
		default:
			words[i] = filepath.Join(base, word)
		}
	}
	return ""
}

// isRelative reports whether a word is a path from the working directory: ./x or ../x,
// and as the program x/y, too, since a program without a separator is looked for in PATH.
func isRelative(word string, program bool) bool {
	slashed := filepath.ToSlash(word)
	return strings.HasPrefix(slashed, "./") || strings.HasPrefix(slashed, "../") ||
		program && strings.Contains(slashed, "/") && !filepath.IsAbs(word) && !strings.HasPrefix(slashed, "/")
}

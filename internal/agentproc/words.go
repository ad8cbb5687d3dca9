package agentproc

import (
	"fmt"
	"runtime"
	"strings"
)

// notWords are characters that a shell would act on outside quotes. No shell runs the
// command, and a "|" as an argument helps nobody.
const notWords = "|&;<>()`\n"

// splitWords splits a command as a shell would, without being one: quotes,
// backslashes, and leading VAR=value words, which are returned apart. What only a
// shell could do is refused. Where a backslash is part of paths, as on Windows,
// it only quotes a double quote.
func splitWords(command string, windows bool) (env, words []string, err error) {
	w := wordReader{windows: windows}
	for _, r := range command {
		if err := w.rune(r); err != nil {
			return nil, nil, fmt.Errorf("agent: the command %w; there is no shell: quote it, or start one with sh -c '…'", err)
		}
	}
	switch {
	case w.quote != 0:
		return nil, nil, fmt.Errorf("agent: the command has a %c that is not closed", w.quote)
	case w.escaped && !windows:
		return nil, nil, fmt.Errorf("agent: the command ends in a backslash, which quotes nothing")
	}
	w.end()
	if len(w.words) == 0 {
		return nil, nil, fmt.Errorf("agent: the command names no program")
	}
	return w.env, w.words, nil
}

// parseCommand splits a command in this system's way, and fills in the port.
func parseCommand(command, port string) (env, words []string, err error) {
	env, words, err = splitWords(command, runtime.GOOS == "windows")
	for _, list := range [][]string{env, words} {
		for i := range list {
			list[i] = strings.ReplaceAll(list[i], "{port}", port)
		}
	}
	return env, words, err
}

type wordReader struct {
	windows    bool
	env, words []string

	word    strings.Builder
	open    bool // a word has begun, if only with quotes
	quote   rune // the quote that is open, or 0
	escaped bool // after a backslash
	dollar  bool // after a $ that is not quoted
	// bare is how much of the word came before its first quote: a name before
	// "=" counts only there.
	bare   int
	quoted bool
}

func (w *wordReader) rune(r rune) error {
	if w.escaped && w.afterBackslash(r) {
		return nil
	}
	if w.dollar && (r == '{' || r == '(' || isName(string(r))) {
		return fmt.Errorf("has a $%c…, which only a shell expands", r)
	}
	w.dollar = false
	if w.quote != 0 {
		return w.inQuotes(r)
	}
	switch r {
	case '\\':
		w.escaped = true
	case '$':
		w.dollar = true
		w.add(r)
	case '"', '\'':
		w.quote, w.open, w.quoted = r, true, true
	case ' ', '\t', '\r':
		w.end()
	default:
		switch {
		case r == '\n' && len(w.words) == 0 && !w.open: // the first line may be empty
		case strings.ContainsRune(notWords, r):
			return fmt.Errorf("has a %q, which only a shell understands", r)
		case r == '~' && !w.open:
			return fmt.Errorf("has a word that begins with ~, which only a shell expands")
		default:
			w.add(r)
		}
	}
	return nil
}

func (w *wordReader) inQuotes(r rune) error {
	switch {
	case r == w.quote:
		w.quote = 0
	case w.quote == '\'':
		w.literal(r)
	case r == '\\':
		w.escaped = true
	case r == '$':
		w.dollar = true
		w.add(r)
	case r == '`':
		return fmt.Errorf("has a %q, which only a shell understands", r)
	default:
		w.literal(r)
	}
	return nil
}

// afterBackslash takes the rune behind a backslash. false: the backslash quoted nothing,
// and the rune is as any other.
func (w *wordReader) afterBackslash(r rune) bool {
	w.escaped = false
	if w.windows && r != '"' || w.quote == '"' && !strings.ContainsRune("$`\"\\\n", r) {
		w.add('\\')
		return false
	}
	if r != '\n' { // which continues the line
		w.literal(r)
	}
	return true
}

// add adds a rune that was not quoted, literal one that was.
func (w *wordReader) add(r rune) {
	w.open = true
	w.word.WriteRune(r)
	if !w.quoted && w.quote == 0 {
		w.bare = w.word.Len()
	}
}

func (w *wordReader) literal(r rune) {
	w.open, w.quoted = true, true
	w.word.WriteRune(r)
}

func (w *wordReader) end() {
	if w.escaped {
		w.escaped = false
		w.add('\\')
	}
	if !w.open {
		return
	}
	word := w.word.String()
	name, _, found := strings.Cut(word, "=")
	if found && len(name) < w.bare && isName(name) && len(w.words) == 0 {
		w.env = append(w.env, word)
	} else {
		w.words = append(w.words, word)
	}
	w.word.Reset()
	w.open, w.quoted, w.dollar, w.bare = false, false, false, 0
}

// isName reports whether s can be a shell's variable.
func isName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

package agentproc

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// Words splits a command like [Options.Command]: into words as in a shell, but no shell
// runs it. It returns leading VAR=value words apart; the first other word is the program.
func Words(command string) (env, words []string, err error) {
	return splitWords(command, runtime.GOOS == "windows")
}

// splitWords is Words for one system. Where a backslash is part of paths, as on Windows,
// it only quotes a double quote. What only a shell could do is refused: a "|" as an
// argument helps nobody. (Rejected: mattn/go-shellwords, which makes tabs and newlines of
// \t and \n, and passes $NAME on.)
func splitWords(command string, windows bool) (env, words []string, err error) {
	var (
		text  []byte // of the word
		open  bool   // it has begun, if only with quotes
		bare  = -1   // how much of it came before its first quote; below 0: it has none
		quote byte   // the one that is open, or 0
	)
	quoted := func() {
		if open = true; bare < 0 {
			bare = len(text)
		}
	}
	end := func() {
		if open && len(words) == 0 && isVariable(string(text), bare) {
			env = append(env, string(text))
		} else if open {
			words = append(words, string(text))
		}
		text, open, bare = nil, false, -1
	}
	s := strings.TrimSpace(command)
	for i := 0; i < len(s); i++ {
		c, after := s[i], s[i+1:]
		if shell := shellOnly(c, after, quote, open, windows); shell != "" {
			return nil, nil, fmt.Errorf("agent: the command %s; there is no shell: quote it, or start one with sh -c '…'", shell)
		}
		switch {
		case c == '\\' && escapes(after, quote, windows):
			if i++; after[0] != '\n' { // which continues the line
				quoted()
				text = append(text, after[0])
			}
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quoted()
			quote = c
		case quote == 0 && strings.IndexByte(" \t\r", c) >= 0:
			end()
		default:
			open, text = true, append(text, c)
		}
	}
	if quote != 0 {
		return nil, nil, fmt.Errorf("agent: the command has a %c that is not closed", quote)
	}
	if end(); len(words) == 0 {
		return nil, nil, fmt.Errorf("agent: the command names no program")
	}
	return env, words, nil
}

// isVariable reports whether a word is NAME=value with a name that is not quoted. bare is as in
// splitWords.
func isVariable(word string, bare int) bool {
	name, _, found := strings.Cut(word, "=")
	return found && safe.VariableName(name) && (bare < 0 || len(name) < bare)
}

// shellOnly says what only a shell could do with what begins here, "" for nothing.
func shellOnly(c byte, after string, quote byte, open, windows bool) string {
	switch {
	case c == '\\' && after == "" && !windows:
		return "ends in a backslash, which quotes nothing"
	case quote == '\'':
	case c == '`' || c == '$' && after != "" && (strings.IndexByte("{(", after[0]) >= 0 || safe.VariableName(after[:1])):
		return fmt.Sprintf("has a %q, which only a shell expands", string(c)+after[:min(len(after), 1)])
	case quote != 0:
	case strings.IndexByte("|&;<>()\n", c) >= 0:
		return fmt.Sprintf("has a %q, which only a shell understands", c)
	case c == '~' && !open:
		return "has a word that begins with ~, which only a shell expands"
	}
	return ""
}

// escapes reports whether a backslash quotes what follows it.
func escapes(after string, quote byte, windows bool) bool {
	switch {
	case after == "" || quote == '\'':
		return false
	case windows:
		return after[0] == '"'
	case quote == '"':
		return strings.IndexByte("$`\"\\\n", after[0]) >= 0
	}
	return true
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

// Absolute makes the relative paths of a command absolute, in place, from a base directory.
// Without a base it returns the first of them; "" otherwise.
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

const (
	hidden = "***"
	// harmless are options behind which a word is no credential: they take none, or a
	// package, a port, a host.
	harmless = " --host --init --listen --port --rm --yes -i -it -jar -m -y "
	// shownShapes are words that show wherever they stand: {port}, a small number, a host
	// and port, a package of npm's, the path of a file.
	shownShapes = `^(((127\.0\.0\.1|localhost|0\.0\.0\.0|\{port\}):)?([0-9]{1,5}|\{port\})|@[\w.-]+/[\w.@-]+|(\.{0,2}/)?[\w./-]+\.(cjs|jar|js|mjs|py|sh|ts))$`
	// shownOption is an option of one letter, of several with one dash that are no letter
	// and its value, or of two dashes; and what stands in front of a value.
	shownOption = `^(-[A-Za-z]|-it|-jar|--[A-Za-z][\w.-]*)(=|$)`
)

// Describe shortens a command for people, who have to recognise it: its program and the
// word behind it, its options' names, and what has the shape of a package, a file or a
// port. All else may be a credential, and is not shown.
func Describe(command string) string {
	env, words, err := Words(command)
	if err != nil {
		return "a command that cannot be read: " + err.Error()
	}
	for i, v := range env {
		name, _, _ := strings.Cut(v, "=")
		env[i] = name + "=" + hidden
	}
	shapes, options := regexp.MustCompile(shownShapes), regexp.MustCompile(shownOption)
	value := func(word string, plain bool) string {
		u, err := url.Parse(word)
		switch {
		case shapes.MatchString(word), plain && !strings.ContainsAny(word, ":=? "):
			return word
		case err == nil && u.Host != "" && strings.Trim(u.RequestURI(), "/") == "":
			return u.Scheme + "://" + u.Host
		case err == nil && u.Host != "":
			return u.Scheme + "://" + u.Host + "/" + hidden
		}
		return hidden
	}
	shown := words[:1:1]
	for i, word := range words[1:] {
		name := options.FindString(word)
		switch {
		case name == "" && strings.HasPrefix(word, "-"):
			word = word[:min(len(word), 2)] + hidden
		case name == "":
			word = value(word, i == 0 || strings.Contains(harmless, " "+words[i]+" "))
		case strings.HasSuffix(name, "="):
			word = name + value(word[len(name):], false)
		}
		shown = append(shown, word)
	}
	return strings.Join(append(env, shown...), " ")
}

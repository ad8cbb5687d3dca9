package agentproc

import (
	"net/url"
	"regexp"
	"strings"
)

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

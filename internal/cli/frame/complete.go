package frame

import (
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/config"
)

// A completer finds what may stand at the end of a command line. It reads the line as
// [Program.Arrange] does, but refuses nothing.
type completer struct {
	at *cli.Command
	// arguments counts the arguments before the last word.
	arguments int
}

// A suggestion is a word that may stand there, and what it means.
type suggestion struct{ word, what string }

// completions are words, and whether files or directories may stand beside them. prefix
// stands before each word.
type completions struct {
	kind, prefix string
	words        []suggestion
}

func (k *completer) complete(p *Program, words []string) completions {
	p.Args = []string{ProgramName, "--help"} // all commands
	app := p.App()
	k.at = rootCommand(app)
	last := words[len(words)-1]
	words = words[:len(words)-1]
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if word == "--" {
			return completions{kind: "files"}
		}
		name, _, has, ok := optionOf(word)
		if !ok {
			k.argument(word)
			continue
		}
		f := findFlag(k.at.Flags, name)
		if f != nil && !has && takesValue(f) {
			if len(words) == 0 {
				return valuesOf(f, name, "")
			}
			words = words[1:]
		}
	}
	if name, _, has, ok := optionOf(last); ok && has {
		if f := findFlag(k.at.Flags, name); f != nil {
			return valuesOf(f, name, last[:strings.Index(last, "=")+1])
		}
	}
	if strings.HasPrefix(last, "-") {
		return completions{kind: "words", words: k.options()}
	}
	found := k.argumentValues()
	if k.arguments == 0 {
		for _, c := range k.at.Subcommands {
			if !c.Hidden {
				found.words = append(found.words, suggestion{c.Name, c.Usage})
			}
		}
	}
	return found
}

// argument takes a word that is no option.
func (k *completer) argument(word string) {
	i := slices.IndexFunc(k.at.Subcommands, func(c *cli.Command) bool { return c.HasName(word) })
	if i < 0 || k.arguments > 0 {
		if k.at.HelpName != ProgramName || word != "help" {
			k.arguments++
		}
		return
	}
	k.at = k.at.Subcommands[i]
}

// options returns all options that may stand here, with those of a2astdio itself.
func (k *completer) options() []suggestion {
	all := []suggestion{{"--help", "show help"}}
	for _, f := range k.at.Flags {
		doc, ok := f.(cli.DocGenerationFlag)
		if !ok {
			continue
		}
		for _, name := range f.Names() {
			if len(name) > 1 {
				_, text := placeholder(doc.GetUsage())
				all = append(all, suggestion{"--" + name, text})
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].word < all[j].word })
	return slices.CompactFunc(all, func(a, b suggestion) bool { return a.word == b.word })
}

// valuesOf completes an option's value.
func valuesOf(f cli.Flag, name, prefix string) completions {
	if _, ok := f.(*cli.BoolFlag); ok {
		return completions{"words", prefix, []suggestion{{word: "true"}, {word: "false"}}}
	}
	value := ""
	if doc, ok := f.(cli.DocGenerationFlag); ok {
		value, _ = placeholder(doc.GetUsage())
	}
	found := named(value)
	found.prefix = prefix
	if name == "agent" {
		found.words = append(found.words, agentNames()...)
	}
	return found
}

// agentNames are the agents of the user's configuration.
func agentNames() (names []suggestion) {
	_, list, err := config.List(&config.Options{File: os.Getenv(Env("config")[0])})
	if err != nil {
		return nil // the command itself reports the fault
	}
	for _, agent := range list {
		names = append(names, suggestion{word: agent.Name})
	}
	return names
}

// argumentValues completes the next argument: files, shells, and the companion's plugins.
func (k *completer) argumentValues() completions {
	words := strings.Fields(k.at.HelpName)
	switch {
	case k.at.HelpName == ProgramName+" companion" && k.arguments < 2:
		return named([...]string{"plugin", "nvim|emacs"}[k.arguments])
	case len(words) < 2 || len(k.at.Subcommands) > 0:
	case words[1] == "trace", words[1] == "card":
		return named("FILE")
	case words[1] == "completion" && k.arguments == 0:
		return named("bash|zsh|fish")
	}
	return completions{kind: "words"}
}

// named completes the placeholder of a value in help: words stand for themselves, FILE
// and DIR for paths.
func named(value string) completions {
	found := completions{kind: "words"}
	for word := range strings.SplitSeq(value, "|") {
		switch {
		case word == "FILE":
			found.kind = "files"
		case word == "DIR":
			found.kind = "dirs"
		case PlainWord(word) && !strings.ContainsAny(word, ":/=@") && (strings.ToUpper(word) != word || strings.ContainsAny(word, "0123456789")):
			found.words = append(found.words, suggestion{word: word})
		}
	}
	return found
}

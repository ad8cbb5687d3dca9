package frame

import (
	_ "embed"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/safe"
)

// A suggestion is a word that may stand there, and what it means.
type suggestion struct{ word, what string }

// completions are words, and what may stand beside them: kind is "words" for nothing, "files"
// or "dirs". prefix stands before each word.
type completions struct {
	kind, prefix string
	words        []suggestion
}

// complete finds what may stand at the end of a command line, as [Program.read] reads it
// up to there. A line with a fault is completed as far as it was read.
func (p *Program) complete(words []string) completions {
	p.Args = []string{ProgramName, "--help"} // all commands
	app := p.App()
	last := words[len(words)-1]
	if words = words[:len(words)-1]; len(words) > 0 && words[0] == "help" {
		words = words[1:] // it is followed by commands, too
	}
	p.Args = append([]string{ProgramName}, words...)
	_, _ = p.parse(app) // who has pressed a key does not hear of faults
	at := p.levels[len(p.levels)-1]
	switch {
	case p.Before >= 0:
		return completions{kind: "files"}
	case p.unfinished != nil:
		return valuesOf(p.unfinished, "")
	}
	if name, _, has, ok := optionOf(last); ok && has {
		if o := findOption(p.optionsAt(at), name); o != nil {
			return valuesOf(o, last[:strings.Index(last, "=")+1])
		}
	}
	if strings.HasPrefix(last, "-") {
		return completions{kind: "words", words: optionsOf(p.optionsAt(at))}
	}
	found := argumentsOf(at, len(p.arguments))
	if len(p.arguments) == 0 {
		for _, c := range at.Subcommands {
			found.words = append(found.words, suggestion{c.Name, c.Usage})
		}
	}
	return found
}

func optionsOf(options []*Option) []suggestion {
	all := []suggestion{{"--help", "show help"}}
	for _, o := range options {
		_, help := described(o)
		for _, name := range append([]string{o.Flag}, o.Aliases...) {
			if len(name) > 1 {
				all = append(all, suggestion{"--" + name, help})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b suggestion) int { return strings.Compare(a.word, b.word) })
	return slices.CompactFunc(all, func(a, b suggestion) bool { return a.word == b.word })
}

func valuesOf(o *Option, prefix string) completions {
	if o.Kind == Switch {
		return completions{"words", prefix, []suggestion{{word: "true"}, {word: "false"}}}
	}
	takes, _ := described(o)
	found := completeName(takes)
	found.prefix = prefix
	if o.Flag == "agent" {
		_, agents, _ := config.List(&config.Options{File: os.Getenv(Env("config"))}) // the command itself reports a fault
		for _, agent := range agents {
			found.words = append(found.words, suggestion{word: agent.Name})
		}
	}
	return found
}

// argumentsOf completes the argument behind so many, by its name in the command's usage.
func argumentsOf(at *level, before int) completions {
	names := strings.Fields(at.ArgsUsage)
	if last := len(names) - 1; before > last && last >= 0 && strings.Contains(names[last], "...") {
		before = last // FILE... are several
	}
	if before >= len(names) {
		return completions{kind: "words"}
	}
	return completeName(strings.Trim(names[before], "[]()."))
}

// completeName completes the placeholder of a value in help: words stand for themselves, FILE
// and DIR for paths.
func completeName(value string) completions {
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

// The scripts are ours: the library's evaluate the line that is typed. Ours know no
// commands, and ask [complete].
var (
	//go:embed completion/a2astdio.bash
	completionBash string
	//go:embed completion/a2astdio.zsh
	completionZsh string
	//go:embed completion/a2astdio.fish
	completionFish string
)

func (p *Program) CompletionCommand() *cli.Command {
	return p.NewCommand("completion (bash|zsh|fish)", (*Program).completion)
}

func (p *Program) completion(c *cli.Context) error {
	shell := c.Args().First()
	script, ok := map[string]string{"bash": completionBash, "zsh": completionZsh, "fish": completionFish}[shell]
	if !ok {
		return Usagef("there is no script for %q: there are bash, zsh, fish", shell)
	}
	return p.showText(script)
}

// CompleteWord begins the command line by which the scripts ask for completions. The
// words behind a2astdio follow; the last one is to be completed.
const CompleteWord = "__complete"

// Complete answers a script of [Program.CompletionCommand]. The first line has what may stand
// beside the words ("words": nothing, "files" or "dirs"), a tab, and how its name begins.
// Each further line has a word, a tab and its description. It reports no errors: the user
// has only pressed a key.
func Complete(p *Program, words []string, stdout io.Writer) int {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	found := p.complete(words)
	var b strings.Builder
	b.WriteString(found.kind + "\t" + strings.TrimPrefix(last, found.prefix) + "\n")
	for _, w := range found.words {
		if value := found.prefix + w.word; strings.HasPrefix(value, last) && PlainWord(value) {
			b.WriteString(value + "\t" + OneLine(safe.Plain(w.what)) + "\n")
		}
	}
	_, _ = io.WriteString(stdout, b.String()) // a shell that has ended asks no more
	return ExitOK
}

// PlainWord reports whether a word means itself in every shell. Others are not offered:
// an agent could name a task $(reboot).
func PlainWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("-_.:=/@+,%", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

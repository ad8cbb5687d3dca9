package cli

import (
	_ "embed"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// The scripts are ours: the library's evaluate the line that is typed. Ours know no
// commands, and ask [complete].
var (
	//go:embed completion/a2astdio.bash
	completionBash string
	//go:embed completion/a2astdio.zsh
	completionZsh string
	//go:embed completion/a2astdio.fish
	completionFish string
	//go:embed completion/a2astdio.ps1
	completionPowerShell string
)

func (p *program) completionCommand() *cli.Command {
	return documented(&cli.Command{Name: "completion", Usage: "print a script that completes a2astdio in your shell", Action: p.completion}, help{
		intro: `Prints a script for a shell. It completes commands, options and their values,
files, and the IDs of tasks: for these it asks the agent, if --agent or
A2ASTDIO_AGENT is its URL, for a second at most. Nothing that is typed is
evaluated.`,
		usage: []string{"a2astdio completion bash|zsh|fish|powershell"},
		examples: []example{
			{"source <(a2astdio completion bash)", "in ~/.bashrc"},
			{"source <(a2astdio completion zsh)", "in ~/.zshrc, behind compinit"},
			{"a2astdio completion fish > ~/.config/fish/completions/a2astdio.fish", "once"},
			{"a2astdio completion powershell | Out-String | Invoke-Expression", "in your $PROFILE"},
		},
	})
}

func (p *program) completion(c *cli.Context) error {
	args, err := p.arguments(c, "bash, zsh, fish or powershell")
	if err != nil {
		return err
	}
	script, ok := map[string]string{"bash": completionBash, "zsh": completionZsh, "fish": completionFish, "powershell": completionPowerShell}[args[0]]
	if !ok {
		return usagef("there is no script for %q: there are bash, zsh, fish, powershell", args[0])
	}
	_, err = io.WriteString(p.stdout, script)
	return err
}

// completeWord begins the command line by which the scripts ask for completions. The
// shell's name follows, then the words behind a2astdio; the last one is to be
// completed. bash adds its word-break characters and the whole line, because it breaks
// words there.
const completeWord = "__complete"

// complete answers a script of [completionCommand]. The first line has what may stand
// beside the words ("words": nothing, "files" or "dirs"), a tab, and their common
// prefix. Each further line has a word, a tab and its description. It reports no
// errors: the user has only pressed a key.
func complete(args []string, stdout io.Writer) int {
	if len(args) == 0 {
		return exitUsage
	}
	shell, words := args[0], args[1:]
	cut := 0 // how much of the word the shell keeps
	switch shell {
	case "bash":
		if len(words) != 2 {
			return exitUsage
		}
		breaks, line := words[0], words[1]
		words = splitLine(line)
		words = words[min(1, len(words)):]
		if n := len(words); n > 0 {
			cut = strings.LastIndexAny(words[n-1], keep(breaks, ":=")) + 1
		}
	case "fish":
		if n := len(words); n > 1 && words[n-2] == "--" { // the shell has added it
			words = append(words[:n-2:n-2], words[n-1])
		}
	case "powershell":
		for i, w := range words {
			words[i] = strings.TrimPrefix(w, ".")
		}
	}
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	found := (&completer{}).complete(words)
	if shell == "zsh" && found.prefix != "" {
		cut = len(found.prefix)
	}
	var b strings.Builder
	b.WriteString(found.kind + "\t" + last[min(max(cut, len(found.prefix)), len(last)):] + "\n")
	for _, w := range found.words {
		value := found.prefix + w.command
		if !strings.HasPrefix(value, last) || !plainWord(value) {
			continue
		}
		b.WriteString(value[cut:] + "\t" + strings.Join(strings.Fields(plainText(w.what)), " ") + "\n")
	}
	_, _ = io.WriteString(stdout, b.String()) // a shell that has ended asks no more
	return exitOK
}

// keep returns the characters that are in set.
func keep(set, characters string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(set, r) {
			return r
		}
		return -1
	}, characters)
}

// plainWord reports whether a word means itself in every shell. Others are not offered:
// an agent could name a task $(reboot).
func plainWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("-_.:=/@+,%", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// splitLine splits a line into words as a shell does, and expands nothing. The last
// word is unfinished, and may be empty.
func splitLine(line string) []string {
	words, word := []string{}, strings.Builder{}
	begun, quote := false, rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	return append(words, word.String())
}

package cli

import (
	_ "embed"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// The scripts are ours: those of the library evaluate the line that is typed. They
// know nothing of the commands, and ask [complete].
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

// completeWord begins the command line with which the scripts ask for completions:
// the shell's name, and what is typed behind a2astdio, word by word; the last is the
// one to complete. bash hands over the characters at which it breaks words, and
// the line, because its words are broken there.
const completeWord = "__complete"

// complete answers a script of [completionCommand]. The first line is what may
// stand there beside the lines that follow ("words": nothing, "files" or "dirs"),
// and a tab and the text that those begin with. Each further line is a word, and
// after a tab what it is. Errors are none of a user's who has pressed a key.
func complete(args []string, stdout io.Writer) int {
	if len(args) == 0 {
		return exitUsage
	}
	shell, words := args[0], args[1:]
	cut := 0 // what of the word the shell does not replace
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
		if n := len(words); n > 1 && words[n-2] == "--" { // not of the user's
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
	_, _ = io.WriteString(stdout, b.String()) // a shell that is gone asks no more
	return exitOK
}

// keep returns those of some characters that are in set.
func keep(set, characters string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(set, r) {
			return r
		}
		return -1
	}, characters)
}

// plainWord reports whether a word means itself in every shell. Others are not
// offered: an agent's task could be called $(reboot).
func plainWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("-_.:=/@+,%", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// splitLine splits a line as a shell does, and expands nothing. The last word is
// the one that is not finished, and may be empty.
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

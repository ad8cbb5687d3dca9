package frame

import (
	_ "embed"
	"io"
	"strings"

	"github.com/a2astdio/a2astdio/internal/safe"
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
)

func (p *Program) CompletionCommand() *cli.Command {
	return p.NewCommand("completion (bash|zsh|fish)", (*Program).completion)
}

func (p *Program) completion(c *cli.Context) error {
	args := c.Args().Slice()
	script, ok := map[string]string{"bash": completionBash, "zsh": completionZsh, "fish": completionFish}[args[0]]
	if !ok {
		return Usagef("there is no script for %q: there are bash, zsh, fish", args[0])
	}
	return p.showText(script)
}

// CompleteWord begins the command line by which the scripts ask for completions. The
// words behind a2astdio follow; the last one is to be completed.
const CompleteWord = "__complete"

// Complete answers a script of [completionCommand]. The first line has what may stand
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

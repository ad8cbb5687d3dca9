package send

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
)

// prompt builds the prompt. It reads stdin only for "-": a command in a loop must not
// take the loop's input.
func prompt(p *frame.Program, c *cli.Context) (string, error) {
	args := c.Args().Slice()
	at := -1
	for i, arg := range args {
		switch {
		case arg != "-", p.Before >= 0 && i >= p.Before: // behind -- all is text
		case at >= 0:
			return "", frame.Usagef("- stands twice, but stdin can be read once: put a - that is text behind --")
		default:
			at = i
		}
	}
	if at < 0 {
		text := strings.Join(args, " ")
		if strings.TrimSpace(text) == "" && len(frame.StringsOf(c, "attach")) == 0 {
			return "", frame.Usagef("what is the prompt? Say send \"…\", or send - to read it from stdin")
		}
		return text, nil
	}
	if frame.IsTerminal(p.Stdin) {
		p.Say("the prompt is read from the terminal: Ctrl-D ends it")
	}
	piped, err := p.ReadPrompt(c.Context)
	if err != nil {
		return "", err
	}
	var blocks []string
	for _, block := range []string{strings.Join(args[:at], " "), piped, strings.Join(args[at+1:], " ")} {
		if block != "" {
			blocks = append(blocks, block)
		}
	}
	text := strings.Join(blocks, "\n\n")
	if strings.TrimSpace(text) == "" {
		return "", frame.Usagef("the prompt is empty: there is nothing on stdin")
	}
	return text, nil
}

package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/a2astdio/a2astdio/transport/stdio"
)

// maxPrompt bounds a prompt from stdin like an editor's line.
const maxPrompt = stdio.MaxLine

// prompt builds the prompt. It reads stdin only for "-": a command in a loop must not
// take the loop's input.
func (p *program) prompt(c *cli.Context) (string, error) {
	args := c.Args().Slice()
	at := -1
	for i, arg := range args {
		switch {
		case arg != "-", p.before >= 0 && i >= p.before: // behind -- all is text
		case at >= 0:
			return "", usagef("- stands twice, but stdin can be read once: put a - that is text behind --")
		default:
			at = i
		}
	}
	if at < 0 {
		text := strings.Join(args, " ")
		if strings.TrimSpace(text) == "" && len(stringsOf(c, "attach")) == 0 {
			return "", usagef("what is the prompt? Say send \"…\", or send - to read it from stdin")
		}
		return text, nil
	}
	if isTerminal(p.stdin) {
		p.say("the prompt is read from the terminal: Ctrl-D ends it")
	}
	piped, err := p.readPrompt(c.Context)
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
		return "", usagef("the prompt is empty: there is nothing on stdin")
	}
	return text, nil
}

func (p *program) readPrompt(ctx context.Context) (string, error) {
	b, ended, err := await(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(p.stdin, maxPrompt+1)) })
	switch {
	case !ended:
		return "", errInterrupted
	case err != nil:
		return "", fmt.Errorf("stdin: %w", err)
	case len(b) > maxPrompt:
		return "", usagef("the prompt on stdin is longer than %d MiB", maxPrompt>>20)
	}
	// JSON cannot carry anything but UTF-8.
	return strings.ToValidUTF8(string(b), "\ufffd"), nil
}

func isTerminal(stream any) bool {
	if w, ok := stream.(*screenWriter); ok {
		return w.terminal
	}
	f, ok := fileOf(stream)
	return ok && term.IsTerminal(int(f.Fd()))
}

func fileOf(stream any) (*os.File, bool) {
	if s, ok := stream.(*seat); ok {
		stream = s.k.tty
	}
	f, ok := stream.(*os.File)
	return f, ok
}

// sameStream reports whether two streams are one. Then a line of the one may interrupt
// a line of the other.
func sameStream(a, b any) bool {
	f, ok := a.(*os.File)
	g, also := b.(*os.File)
	if !ok || !also {
		return false
	}
	one, err := f.Stat()
	other, failed := g.Stat()
	return err == nil && failed == nil && os.SameFile(one, other)
}

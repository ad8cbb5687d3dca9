package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// An asker asks the user at a terminal. Without one it takes its own proposals, and
// writes to out.
type asker struct {
	ctx   context.Context
	tty   io.ReadWriter // nil: nobody is asked
	lines *bufio.Reader
	out   io.Writer
}

// errGivenUp reports an end of input in place of an answer.
var errGivenUp = errors.New("bridge: nothing was set up, because there was no answer")

// newAsker opens the user's terminal, unless quiet or there is none. The caller calls
// close when nothing more is to be asked.
func (p *program) newAsker(ctx context.Context, quiet bool) (a *asker, close func()) {
	a = &asker{ctx: ctx, out: p.stdout}
	if quiet {
		return a, func() {}
	}
	tty, err := p.terminal()
	if err != nil {
		return a, func() {}
	}
	a.tty, a.lines, a.out = tty, bufio.NewReader(tty), tty
	return a, func() { _ = tty.Close() } // nothing written can be lost
}

// asks reports whether somebody can be asked.
func (a *asker) asks() bool { return a.tty != nil }

// say shows text that may come from an agent.
func (a *asker) say(format string, args ...any) {
	// The next question reports a terminal that is gone.
	_, _ = fmt.Fprintln(a.out, plainText(fmt.Sprintf(format, args...)))
}

func (a *asker) page(p *page) { _, _ = io.WriteString(a.out, p.String()) }

// ask shows a question and returns the answer; the proposal if the answer is empty or
// nobody is asked. It returns at once when its context ends.
func (a *asker) ask(question, proposed string) (string, error) {
	if !a.asks() {
		return proposed, nil
	}
	if proposed != "" {
		question += " [" + plainText(proposed) + "]"
	}
	if _, err := io.WriteString(a.tty, question+": "); err != nil {
		return "", errGivenUp
	}
	line, ended, err := await(a.ctx, func() (string, error) { return a.lines.ReadString('\n') })
	text := strings.TrimSpace(line)
	switch {
	case !ended:
		return "", errInterrupted
	case text != "":
		return text, nil
	case err != nil:
		a.say("")
		return "", errGivenUp
	}
	return proposed, nil
}

// yes asks a yes-or-no question.
func (a *asker) yes(question string, proposed bool) (bool, error) {
	words := map[bool]string{true: "Y/n", false: "y/N"}[proposed]
	for {
		text, err := a.ask(question+" ["+words+"]", "")
		switch strings.ToLower(text) {
		case "":
			return proposed, err
		case "y", "yes":
			return true, err
		case "n", "no":
			return false, err
		}
	}
}

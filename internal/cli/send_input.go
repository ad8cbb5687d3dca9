package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/a2astdio/a2astdio/transport"
)

// maxPrompt is how long a prompt from stdin may be: as long as an editor's.
const maxPrompt = transport.MaxLine

// readPrompt reads stdin to its end.
func (p *program) readPrompt(ctx context.Context) (string, error) {
	type input struct {
		b   []byte
		err error
	}
	read := make(chan input, 1)
	go func() { // ends with stdin, or, after Ctrl-C, with the process
		b, err := io.ReadAll(io.LimitReader(p.stdin, maxPrompt+1))
		read <- input{b, err}
	}()
	select {
	case in := <-read:
		switch {
		case in.err != nil:
			return "", fmt.Errorf("stdin: %w", in.err)
		case len(in.b) > maxPrompt:
			return "", usagef("the prompt on stdin is longer than %d MiB", maxPrompt>>20)
		}
		// What is not UTF-8 cannot be sent; JSON has no other text.
		return strings.ToValidUTF8(string(in.b), "\ufffd"), nil
	case <-ctx.Done():
		return "", errInterrupted
	}
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

package frame

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/a2astdio/a2astdio/transport/stdio"
)

func (p *Program) ReadPrompt(ctx context.Context) (string, error) {
	b, ended, err := Await(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(p.Stdin, maxPrompt+1)) })
	switch {
	case !ended:
		return "", ErrInterrupted
	case err != nil:
		return "", fmt.Errorf("stdin: %w", err)
	case len(b) > maxPrompt:
		return "", Usagef("the prompt on stdin is longer than %d MiB", maxPrompt>>20)
	}
	// JSON cannot carry anything but UTF-8.
	return strings.ToValidUTF8(string(b), "\ufffd"), nil
}

// maxPrompt bounds a prompt from stdin like an editor's line.
const maxPrompt = stdio.MaxLine

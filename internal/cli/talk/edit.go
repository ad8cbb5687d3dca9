package talk

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping"
)

// editContent lets the user change the content that the agent proposes to write, in
// $VISUAL or $EDITOR, and returns the result. The text lies in a directory that only
// the user may read.
func editContent(ctx context.Context, tty io.ReadWriter, q *mapping.Question, content *string) (*string, error) {
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	if editor == "" {
		return nil, errors.New("neither VISUAL nor EDITOR names an editor")
	}
	edit := q.Call.Confirmation.Edit
	text := edit.NewContent
	if content != nil {
		text = *content
	}
	dir, err := os.MkdirTemp("", "a2astdio-edit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// The file's name tells the editor the language. It comes from the agent.
	file := filepath.Join(dir, cmp.Or(safe.FileName(edit.FilePath), "proposed"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cmd := editorCommand(ctx, editor, file)
	if file, ok := frame.FileOf(tty); ok {
		tty = file
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	edited, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := string(edited)
	return &s, nil
}

// editorCommand runs the editor by the shell, as git does: $EDITOR may have arguments.
func editorCommand(ctx context.Context, editor, file string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, "cmd", "/c", editor, file)
	}
	return exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, editor, file)
}

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
	"strings"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
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
	file := filepath.Join(dir, editedName(edit.FilePath))
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

// editedName is the name under which a text is edited, which tells the editor the language. It comes
// from the agent, and cmd.exe would run what stands behind an & in it.
func editedName(path string) string {
	return cmp.Or(strings.Map(func(r rune) rune {
		if r == '%' || !frame.PlainWord(string(r)) {
			return '_'
		}
		return r
	}, safe.FileName(path)), "proposed")
}

// editorCommand runs the editor by the shell, as git does: $EDITOR may have arguments.
func editorCommand(ctx context.Context, editor, file string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, "cmd", "/c", editor, file)
	}
	return exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, editor, file)
}

// diff shows what would change: its first lines, or all of it.
func diff(s frame.Style, width int, f *mapping.FileDiff, whole bool) string {
	text := ask.FirstLines(ask.Unified(f))
	if whole {
		text = all(f)
	}
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		paint := func(row string) string { return row }
		switch {
		case strings.HasPrefix(line, "+"):
			paint = s.Green
		case strings.HasPrefix(line, "-"):
			paint = s.Red
		case strings.HasPrefix(line, "@@"):
			paint = s.Cyan
		}
		indent := "    "
		for _, row := range hang(line, width-agentIndent) {
			b.WriteString(indent + paint(row) + "\n")
			indent = strings.Repeat(" ", agentIndent)
		}
	}
	return b.String()
}

// all is the whole change.
func all(f *mapping.FileDiff) string { return ask.Visible(strings.TrimRight(ask.Unified(f), "\n")) }

// changed counts the lines that a change adds and removes.
func changed(f *mapping.FileDiff) (added, removed int) {
	inHunk := false // above the first are the names of files
	for line := range strings.Lines(ask.Unified(f)) {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case inHunk && line[0] == '+':
			added++
		case inHunk && line[0] == '-':
			removed++
		}
	}
	return added, removed
}

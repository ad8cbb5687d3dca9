package demo

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	editTool    = "Edit"
	defaultFile = "hello.txt"
	demoLine    = "Hello from the a2astdio demo agent.\n"
)

// An editing is one edit of one file: planned, asked for, done.
type editing struct {
	workspace *workspace
	name      string
	old       *string
	call      toolCall
}

func edit(args []string) story {
	return func(ctx context.Context, r *run) error {
		name := fileName(args)
		if err := r.think(ctx, "Planning an edit", "I propose a change to "+name+"."); err != nil {
			return err
		}
		e, err := r.plan(ctx, name)
		if e == nil || err != nil {
			return err
		}
		answers, err := r.approve(ctx, e.call)
		if err != nil {
			return err
		}
		return r.edit(ctx, e, answers[e.call.ID])
	}
}

func fileName(args []string) string {
	if len(args) == 0 {
		return defaultFile
	}
	return filepath.FromSlash(args[0])
}

// plan prepares the edit of a file. It returns nil if the file cannot be edited: then
// the call has failed and the story is over.
func (r *run) plan(ctx context.Context, name string) (*editing, error) {
	w, err := r.task.session.directory()
	if err != nil {
		return nil, err
	}
	e := &editing{workspace: w, name: name}
	e.call = toolCall{
		ID: r.task.newID(), Name: editTool, Description: "Edit " + filepath.ToSlash(name),
		Status: callPending, Input: map[string]any{"file_path": w.path(name)},
	}
	if e.old, err = w.read(name); err != nil {
		return nil, r.failCall(ctx, e.call, errorDetails{Message: err.Error(), Type: "read_content_failure"})
	}
	content := demoLine
	if e.old != nil {
		content = *e.old
		if content != "" && !strings.HasSuffix(content, "\n") {
			content += "\n"
		}
		content += demoLine
	}
	e.call.Input = map[string]any{"file_path": w.path(name), "content": content}
	e.call.Confirmation = &confirmationRequest{Options: options(), FileEdit: e.diff(content)}
	return e, nil
}

func (e *editing) diff(content string) *fileDiff {
	from, old := "/dev/null", ""
	if e.old != nil {
		from, old = "a/"+filepath.ToSlash(e.name), *e.old
	}
	return &fileDiff{
		FileName: filepath.Base(e.name), FilePath: e.workspace.path(e.name), OldContent: e.old, NewContent: content,
		FormattedDiff: udiff.Unified(from, "b/"+filepath.ToSlash(e.name), old, content),
	}
}

// edit performs an approved edit, or reports that it was not approved.
func (r *run) edit(ctx context.Context, e *editing, given answer) error {
	shown := filepath.ToSlash(e.name)
	if !given.approved() {
		return r.say(ctx, "I leave ", shown, " as it is.\n")
	}
	c := e.call
	c.Status, c.Confirmation = callExecuting, nil
	if err := r.update(ctx, c); err != nil {
		return err
	}
	text := e.call.Confirmation.FileEdit.NewContent
	if given.content != nil {
		text = *given.content
	}
	if err := e.write(text); err != nil {
		return r.failCall(ctx, c, errorDetails{Message: err.Error(), Type: "file_write_failure"})
	}
	r.ran(given, "write %q to %q", text, e.workspace.path(e.name))
	c.Status, c.Output = callSucceeded, &toolOutput{Diff: e.diff(text)}
	if err := r.update(ctx, c); err != nil {
		return err
	}
	if given.content != nil {
		return r.say(ctx, "I wrote", " your version of ", shown, ".\n")
	}
	return r.say(ctx, "I wrote ", shown, ".\n")
}

// write writes the file, unless it has changed since the user saw it.
func (e *editing) write(text string) error {
	now, err := e.workspace.read(e.name)
	if err != nil {
		return err
	}
	if !same(now, e.old) {
		return fmt.Errorf("%s changed while I was waiting", filepath.ToSlash(e.name))
	}
	return e.workspace.write(e.name, text)
}

func same(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// failCall reports a call as failed, which does not fail the task.
func (r *run) failCall(ctx context.Context, c toolCall, e errorDetails) error {
	c.Status, c.Live, c.Confirmation, c.Error = callFailed, "", nil, &e
	if err := r.update(ctx, c); err != nil {
		return err
	}
	return r.say(ctx, c.Name, " failed: ", e.Message, ".\n")
}

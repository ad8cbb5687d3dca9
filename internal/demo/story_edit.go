package demo

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/google/uuid"
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
	return func(r *run) {
		name := fileName(args)
		r.think("Planning an edit", "I propose a change to "+name+".")
		if e := r.plan(name); e != nil {
			r.edit(e, r.approve(e.call)[e.call.ID])
		}
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
func (r *run) plan(name string) *editing {
	w, err := r.task.session.directory()
	if err != nil {
		r.fail(err)
		return nil
	}
	e := &editing{workspace: w, name: name}
	e.call = toolCall{
		ID: uuid.NewString(), Name: editTool, Description: "Edit " + filepath.ToSlash(name),
		Status: callPending, Input: map[string]any{"file_path": w.path(name)},
	}
	if e.old, err = w.read(name); err != nil {
		r.failCall(e.call, errorDetails{Message: err.Error(), Type: "read_content_failure"})
		return nil
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
	return e
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
func (r *run) edit(e *editing, given answer) {
	shown := filepath.ToSlash(e.name)
	if !given.approved() {
		r.say("I leave ", shown, " as it is.\n")
		return
	}
	c := e.call
	c.Status, c.Confirmation = callExecuting, nil
	if r.update(c); r.err != nil {
		return
	}
	text := e.call.Confirmation.FileEdit.NewContent
	if given.content != nil {
		text = *given.content
	}
	if err := e.write(text); err != nil {
		r.failCall(c, errorDetails{Message: err.Error(), Type: "file_write_failure"})
		return
	}
	r.ran(given, "write %q to %q", text, e.workspace.path(e.name))
	c.Status, c.Output = callSucceeded, &toolOutput{Diff: e.diff(text)}
	r.update(c)
	if given.content != nil {
		r.say("I wrote", " your version of ", shown, ".\n")
	} else {
		r.say("I wrote ", shown, ".\n")
	}
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
func (r *run) failCall(c toolCall, e errorDetails) {
	c.Status, c.Live, c.Confirmation, c.Error = callFailed, "", nil, &e
	r.update(c)
	r.say(c.Name, " failed: ", e.Message, ".\n")
}

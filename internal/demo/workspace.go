package demo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFile bounds a file that the agent edits: its old and new content travel in one
// event.
const maxFile = 1 << 20

// A workspace is the directory for files. Each access opens it anew through [os.Root]
// from base, so that neither a symbolic link nor a directory that is replaced later
// leads out of base.
type workspace struct {
	base  string // with links resolved
	shown string // in the client's spelling, for paths that it gets
}

// newWorkspace finds the directory that a workspace_path names.
func newWorkspace(path string) (*workspace, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("workspace_path %q is not absolute", path)
	}
	path = filepath.Clean(path)
	// Links are resolved first: /tmp is one on some systems.
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("workspace_path %q does not exist", path)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("workspace_path %q is not a directory", path)
	}
	return &workspace{base: real, shown: path}, nil
}

// path returns the absolute path of a file, as the client knows the workspace.
func (w *workspace) path(name string) string { return filepath.Join(w.shown, name) }

// read returns the content of a file, or nil if there is none.
func (w *workspace) read(name string) (*string, error) {
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("%q is outside of the workspace", name)
	}
	root, err := os.OpenRoot(w.base)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%q is larger than %d bytes", name, maxFile)
	}
	text := string(data)
	return &text, nil
}

func (w *workspace) write(name, content string) error {
	root, err := os.OpenRoot(w.base)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return root.WriteFile(name, []byte(content), 0o644)
}

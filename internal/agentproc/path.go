package agentproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// Dir is the directory in which the user's programs run: one of ours, which has nothing
// in it. It is made if need be.
func Dir() (string, error) {
	state, err := safe.StateDir()
	if err != nil {
		return "", fmt.Errorf("there is no directory for your programs to run in: %w", err)
	}
	dir := filepath.Join(state, "a2astdio", "agent")
	return dir, os.MkdirAll(dir, 0o700)
}

// Command makes a command of a program of the user's, which runs as an agent does: in [Dir],
// with vars and our environment but for our own variables, and no PATH leads into the
// workspaces. Its end by ctx ends its children, too: gcloud is a script that starts another
// program.
func Command(ctx context.Context, vars, words []string, w *Workspaces) (*exec.Cmd, error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	env := append(w.environ(), vars...)
	path, err := lookPath(words[0], env)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be run: %w", words[0], errors.Unwrap(err))
	}
	cmd := exec.CommandContext(ctx, path, words[1:]...)
	cmd.Dir, cmd.Env = dir, env
	ownGroup(cmd)
	return cmd, nil
}

// lookPath finds a program as [exec.LookPath] does, in an environment's own PATH. An error
// is an [exec.Error].
func lookPath(program string, env []string) (string, error) {
	if filepath.Base(program) != program {
		return exec.LookPath(program)
	}
	for _, v := range slices.Backward(env) {
		name, value, _ := strings.Cut(v, "=")
		if !strings.EqualFold(name, "PATH") {
			continue
		}
		for _, dir := range filepath.SplitList(value) {
			if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
				return path, nil
			}
		}
		break
	}
	return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
}

// checkout returns the repository that a workspace is in, or the workspace. Neither the
// user's home nor what is above it is a repository that was cloned: "" stands for these.
func checkout(workspace string) (root string) {
	home := safe.Home()
	for dir := workspace; dir != "" && (home == "" || !safe.Within(home, dir)); dir = filepath.Dir(dir) {
		if root == "" {
			root = dir
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	return root
}

// Workspaces are where the user works: the directory that a2astdio was started for, and
// those of sessions, as these are opened. Its methods may be called concurrently.
type Workspaces struct {
	mu   sync.Mutex
	dirs []string
}

// Add adds a directory, or the repository that it is in: by its name, and by where links
// lead.
func (w *Workspaces) Add(dir string) {
	names := []string{dir}
	if real, _ := filepath.EvalSymlinks(dir); real != dir { // "" if there is no such directory
		names = append(names, real)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range names {
		if root := checkout(name); root != "" && !slices.Contains(w.dirs, root) {
			w.dirs = append(w.dirs, root)
		}
	}
}

// environ returns the environment for the user's programs: ours without the A2ASTDIO_
// variables, which configure this program and may hold credentials, and outside of the
// workspaces. A nil w has none.
func (w *Workspaces) environ() []string {
	return w.outside(slices.DeleteFunc(os.Environ(), func(v string) bool {
		const ours = "A2ASTDIO_"
		return len(v) >= len(ours) && strings.EqualFold(v[:len(ours)], ours) // Windows ignores case
	}))
}

// outside returns an environment whose PATH leads nowhere into the workspaces: entries that
// are relative, or below one of them or its repository, are left out. A cloned repository
// may bring programs of any name, and node_modules/.bin is often in PATH.
func (w *Workspaces) outside(env []string) []string {
	var workspaces []string
	if w != nil {
		w.mu.Lock()
		workspaces = slices.Clone(w.dirs)
		w.mu.Unlock()
	}
	inside := func(dir string) bool {
		return slices.ContainsFunc(workspaces, func(workspace string) bool { return safe.Within(dir, workspace) })
	}
	out := make([]string, 0, len(env))
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if strings.EqualFold(name, "PATH") { // Windows writes Path
			var kept []string
			for _, dir := range filepath.SplitList(value) {
				if filepath.IsAbs(dir) && !inside(dir) {
					kept = append(kept, dir)
				}
			}
			v = name + "=" + strings.Join(kept, string(os.PathListSeparator))
		}
		out = append(out, v)
	}
	return out
}

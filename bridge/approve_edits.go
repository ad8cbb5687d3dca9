package bridge

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// This file decides what the mode accept-edits allows, and which files of a directory are plain.

// isPlainEdit reports whether a call is what the mode accept-edits allows: an edit
// and nothing else, of a file inside one of the directories, below which no part
// of its path begins with a dot (.git/hooks, .vscode, .bashrc: such files run
// programs). What is looked at may change before the agent writes: the mode is for
// agents that are trusted not to arrange that.
func isPlainEdit(c *mapping.ToolCall, dirs []string, local bool) bool {
	path, ok := ask.EditOnly(c)
	if !ok {
		return false
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		if !isPlainBelow(dir, path) || isWide(dir) || isPseudoFile(dir) {
			return false
		}
		if !local {
			return true
		}
		rest, _ := filepath.Rel(dir, path) // isPlainBelow has had one
		real, ok := resolveNarrow(dir)
		return ok && isPlainFile(real, rest)
	})
}

// resolveNarrow resolves the links of a directory; false: what is in it is not all of one
// piece of work, so that nothing of it is written or handed on because it is in there.
func resolveNarrow(dir string) (real string, ok bool) {
	real, err := filepath.EvalSymlinks(dir)
	return real, err == nil && !isWide(real) && !isPseudoFile(real)
}

// readPlain reads a file of the workspace: a regular one without another name, to which, when links
// are resolved, no name leads that begins with a dot. Of one that is longer than limit it reads a
// byte more.
func readPlain(workspace, path string, limit int64) ([]byte, error) {
	dir, ok := resolveNarrow(workspace)
	if !ok {
		return nil, fmt.Errorf("%s is no workspace: the user starts a2astdio in one, or names one by --workspace", workspace)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	real, ok := resolve(path)
	if !ok || !isPlainBelow(dir, real) {
		return nil, fmt.Errorf("it, or what a link on its path leads to, is outside the workspace %s, or hidden", dir)
	}
	root, err := os.OpenRoot(dir) // which follows no link that leads out of it
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(real[len(dir)+1:], os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would block
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || linkCount(real, info) != 1 {
		return nil, errors.New("it is no plain file, or has another name")
	}
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// isPlainBelow reports whether a path leads to a file below a directory, without a part
// that begins with a dot. Nor may a part have characters that another system reads in
// another way, since the agent may run on one: on Windows a tilde may be in the short
// name of such a part (GIT~1), a colon names another stream of a file, and a backslash
// begins a part; HFS+ ignores characters that do not show.
func isPlainBelow(dir, path string) bool {
	rest, err := filepath.Rel(dir, path)
	if err != nil || rest == "." || !filepath.IsLocal(rest) {
		return false
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rest), "/") {
		if strings.HasPrefix(part, ".") || strings.ContainsAny(part, `~:\`) || ask.Visible(part) != part {
			return false
		}
	}
	return true
}

// isWide reports whether a directory is the root, or holds the user's home: much in it runs
// programs.
func isWide(dir string) bool {
	dir = filepath.Clean(dir)
	if dir == filepath.Dir(dir) {
		return true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(home); err == nil && isWithin(dir, real) {
		return true
	}
	return isWithin(dir, home)
}

func isWithin(dir, path string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rest)
}

// isPseudoFile reports whether a path means something else to each process, or no file at all.
func isPseudoFile(path string) bool {
	return slices.ContainsFunc([]string{"/proc", "/dev", "/sys"}, func(dir string) bool { return isWithin(dir, filepath.Clean(path)) })
}

// isPlainFile reports whether a path below a directory leads to a regular file that has no
// other name, or to none yet, and not to a hidden one. Symbolic links are followed as long as they stay inside,
// and are relative: one by way of /proc may lead elsewhere for the agent.
func isPlainFile(dir, rest string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Stat(rest)
	real, ok := resolve(filepath.Join(dir, rest))
	switch {
	case !ok || !isPlainBelow(dir, real):
		return false
	case err != nil:
		return errors.Is(err, fs.ErrNotExist)
	}
	return info.Mode().IsRegular() && linkCount(real, info) == 1
}

// setAdditional replaces the session's additional directories. It keeps the slice.
func (s *Session) setAdditional(dirs []string) {
	s.agent.enterDirs(dirs...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.additional = dirs
}

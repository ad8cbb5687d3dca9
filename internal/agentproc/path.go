package agentproc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

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

// LookPath finds a program as [exec.LookPath] does, in an environment's own PATH.
func LookPath(program string, env []string) (string, error) {
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

// Outside returns an environment whose PATH leads nowhere into a workspace: entries that
// are relative, or below it, are left out. A cloned repository may bring programs of any
// name, and node_modules/.bin is often in PATH. A workspace that is the user's home, or
// above it, is no repository that was cloned: it has the user's own programs.
func Outside(env []string, workspace string) []string {
	if home := safe.Home(); workspace != "" && home != "" && safe.Within(home, workspace) {
		workspace = ""
	}
	out := make([]string, 0, len(env))
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if strings.EqualFold(name, "PATH") { // Windows writes Path
			var kept []string
			for _, dir := range filepath.SplitList(value) {
				if filepath.IsAbs(dir) && (workspace == "" || !safe.Within(dir, workspace)) {
					kept = append(kept, dir)
				}
			}
			v = name + "=" + strings.Join(kept, string(os.PathListSeparator))
		}
		out = append(out, v)
	}
	return out
}

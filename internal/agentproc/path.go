package agentproc

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// outside returns an environment whose PATH leads nowhere into a workspace: entries that
// are relative, or below it, are left out. A cloned repository may bring programs of any
// name, and node_modules/.bin is often in PATH. A workspace that is the user's home, or
// above it, is no repository that was cloned: it has the user's own programs.
func outside(env []string, workspace string) []string {
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

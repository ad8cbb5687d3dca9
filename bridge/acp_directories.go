package bridge

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/a2astdio/a2astdio/mapping/acp"
)

// maxDirectories is how many additional directories a session may have: more than an
// editor's workspace has roots. Each is looked at for each edit in the mode
// accept-edits.
const maxDirectories = 100

// checkDirectories checks the directories of a session that is opened, and answers with
// an error if one is wrong.
func (c *editorRequest) checkDirectories(p *acp.NewSessionRequest) bool {
	var err error
	if p.Cwd != "" || p.SessionID == "" { // a session that is there has one
		err = checkDirectory(c.Method, "cwd", p.Cwd)
	}
	if n := len(p.AdditionalDirectories); n > maxDirectories {
		err = fmt.Errorf("editor: %s: there are %d additionalDirectories: at most %d are taken", c.Method, n, maxDirectories)
	}
	for i, dir := range p.AdditionalDirectories {
		if err == nil {
			err = checkDirectory(c.Method, fmt.Sprintf("additionalDirectories[%d]", i), dir)
		}
	}
	if err != nil {
		c.fail(acp.CodeInvalidParams, err.Error(), "")
	}
	return err == nil
}

// enter is for a session's directories.
func (a *Agent) enter(dirs ...string) {
	for _, dir := range dirs {
		if a.opts.Enter != nil && dir != "" {
			a.opts.Enter(dir)
		}
	}
}

func checkDirectory(method, member, dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("editor: %s: %s %q is not an absolute path", method, member, dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("editor: %s: %s %q: %v", method, member, dir, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("editor: %s: %s %q is not a directory", method, member, dir)
	}
	return nil
}

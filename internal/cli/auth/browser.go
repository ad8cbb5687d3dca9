package auth

import (
	"os"
	"os/exec"
	"runtime"

	"github.com/a2astdio/a2astdio/internal/agentproc"
)

// OpenBrowser opens a page of this machine in the user's browser, or in the one that
// BROWSER names, by no program of the workspaces. Others on the machine can read the command line: see oauth's loopback.
func OpenBrowser(page string, workspaces *agentproc.Workspaces) error {
	var argv []string
	switch browser := os.Getenv("BROWSER"); {
	case browser != "":
		argv = []string{browser, page}
	case runtime.GOOS == "darwin":
		argv = []string{"open", page}
	case runtime.GOOS == "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler", page}
	default:
		argv = []string{"xdg-open", page}
	}
	dir, err := agentproc.Dir()
	if err != nil {
		return err
	}
	env := workspaces.Outside(agentproc.Environ())
	path, err := agentproc.LookPath(argv[0], env)
	if err != nil {
		return err
	}
	cmd := exec.Command(path, argv[1:]...) // stdin and stdout are the editor's
	cmd.Dir, cmd.Env = dir, env
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // a browser may run for days
	return nil
}

// HasBrowser reports whether the user would see a browser that opens here.
func HasBrowser(getenv func(string) string) bool {
	if getenv("NO_BROWSER") != "" {
		return false
	}
	if getenv("BROWSER") != "" {
		return true
	}
	// BROWSER names a browser that exists, also in a CI or over SSH.
	for _, name := range []string{"CI", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"} {
		if getenv(name) != "" {
			return false
		}
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return true
	}
	return getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
}

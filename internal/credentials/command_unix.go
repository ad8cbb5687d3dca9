//go:build unix

package credentials

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the end of a command end its children: gcloud is a script that starts
// another program.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

//go:build unix

package peers

import "syscall"

// killGroup kills a process and its children: a terminal's programs are a group.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

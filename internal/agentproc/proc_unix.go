//go:build unix && !linux

package agentproc

import "syscall"

// isSubreaper: only Linux and, by another call, FreeBSD have subreapers. Here a process
// that has left the agent's process group is not found.
const isSubreaper = false

func becomeSupervisor() {}

func agentAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func ownChildren() []int { return nil }

// sweep does nothing: without the supervisor nothing identifies the agent's processes.
// They have lost their output, and most end of that.
func sweep(string) {}

//go:build unix && !linux

package agentproc

import "syscall"

// isSubreaper: only Linux, and FreeBSD by another call, knows them. Here what has
// left the agent's process group is not found.
const isSubreaper = false

func becomeSupervisor() {}

func agentAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func ownChildren() []int { return nil }

// sweep: if the supervisor was killed, nothing tells the agent's processes from
// others. They have lost their output, and most end of that.
func sweep(string) {}

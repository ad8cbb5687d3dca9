package agentproc

import (
	"os"
	"syscall"
)

// nameSupervisor gives the supervisor a name of its own for ps, killall and pkill:
// killing every a2astdio leaves the ones that clean up. At most 15 bytes. A process's
// name is that of its first thread, which may not be this one.
func nameSupervisor() { _ = os.WriteFile("/proc/self/comm", []byte("a2a-supervisor"), 0) }

// agentAttr: the kernel kills the agent when the supervisor ends.
func agentAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

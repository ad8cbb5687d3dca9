//go:build unix && !linux

package agentproc

import "syscall"

func nameSupervisor() {}

func agentAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

//go:build !unix

package peers

import "os"

// killGroup kills a process.
func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

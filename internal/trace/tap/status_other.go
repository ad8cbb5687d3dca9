//go:build !unix

package tap

import "os"

func statusOf(s *os.ProcessState) int {
	if s == nil {
		return 1
	}
	return s.ExitCode()
}

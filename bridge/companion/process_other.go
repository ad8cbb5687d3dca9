//go:build !unix

package companion

import "os"

// probe: a process that was found is there.
func probe(*os.Process) bool { return true }

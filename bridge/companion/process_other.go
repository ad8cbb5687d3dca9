//go:build !unix

package companion

import "os"

// probe: to have found the process is all there is.
func probe(*os.Process) bool { return true }

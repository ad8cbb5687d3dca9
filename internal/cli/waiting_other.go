//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package cli

import "os"

// pipeHolds reports whether a pipe has unread bytes. Without reading it that is not
// known here.
func pipeHolds(*os.File) bool { return false }

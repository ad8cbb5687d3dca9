//go:build unix

package store

import (
	"io/fs"
	"os"
	"syscall"
)

// owned reports whether a directory is this user's, and nobody else may use it.
func owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}

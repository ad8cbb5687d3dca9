//go:build unix

package bridge

import (
	"io/fs"
	"syscall"
)

// linkCount is how many names, that is hard links, a file has; 0 if that is not known.
func linkCount(_ string, info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 0
}

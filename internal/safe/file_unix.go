//go:build unix

package safe

import (
	"io/fs"
	"os"
	"syscall"
)

// othersMay tells what others may do with a file of this user, "" if nothing.
func othersMay(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() || int(stat.Uid) != os.Getuid() {
		return ""
	}
	switch perm := info.Mode().Perm(); {
	case perm&0o044 != 0:
		return "read"
	case perm&0o022 != 0:
		return "written"
	}
	return ""
}

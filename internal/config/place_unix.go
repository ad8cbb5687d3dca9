//go:build unix

package config

import "io/fs"

// writableByAll reports whether any user of the machine may write a file. Its group
// may: many systems give each user one.
func writableByAll(info fs.FileInfo) bool { return info.Mode().Perm()&0o002 != 0 }

//go:build !unix

package config

import "io/fs"

// writableByAll is false here: the mode does not tell it.
func writableByAll(fs.FileInfo) bool { return false }

//go:build !unix

package config

import "io/fs"

// writableByAll is not known from a mode here.
func writableByAll(fs.FileInfo) bool { return false }

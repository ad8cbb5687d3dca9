//go:build !unix

package store

import "io/fs"

// owned reports true: on Windows the temporary directory is the user's own.
func owned(fs.FileInfo) bool { return true }

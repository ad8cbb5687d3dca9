//go:build !unix

package credentials

import "io/fs"

// othersMay has nothing to go by: permission bits mean nothing here, and a user's
// directories are theirs alone unless they have shared them.
func othersMay(fs.FileInfo) string { return "" }

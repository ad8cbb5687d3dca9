//go:build !unix

package safe

import "io/fs"

// othersMay returns "": permission bits mean nothing here, and a user's directories are
// private unless shared.
func othersMay(fs.FileInfo) string { return "" }

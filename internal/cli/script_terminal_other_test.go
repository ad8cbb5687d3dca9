//go:build !linux

package cli

import "os"

// atTerminal is for Linux: the scripts that need it skip elsewhere.
func atTerminal() { os.Exit(1) }

//go:build unix

package store

import (
	"syscall"
	"testing"
)

// makeOther makes a pipe, which nobody writes to.
func makeOther(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

//go:build !unix

package store

import (
	"os"
	"testing"
)

// makeOther makes a directory.
func makeOther(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

package oneproc

import (
	"runtime"
	"testing"
)

// TestBegun shows that a program that imports the package has begun on one processor.
func TestBegun(t *testing.T) {
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("it runs on %d processors", n)
	}
}

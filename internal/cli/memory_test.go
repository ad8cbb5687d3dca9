package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestMemoryLimit: the limit is above what is alive, and comes down with it.
func TestMemoryLimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	k := newMemoryKeeper()
	defer k.rest.Stop()
	large := make([]byte, 200<<20)
	runtime.GC()
	k.adjust()
	if limit := debug.SetMemoryLimit(-1); limit < 300<<20 || limit > 500<<20 {
		t.Errorf("with %d bytes alive the limit is %d", len(large), limit)
	}
	runtime.KeepAlive(large)
	runtime.GC()
	k.adjust()
	if limit := debug.SetMemoryLimit(-1); limit > 200<<20 {
		t.Errorf("with nothing alive the limit is %d", limit)
	}
}

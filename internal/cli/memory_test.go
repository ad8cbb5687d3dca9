package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestMemoryLimit: the limit is above the live memory, and comes down with it.
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

// TestGiveBack: what was alive at the last collection may be garbage since, such as a
// large last event. So one more collection runs, and no further ones if it is still
// used.
func TestGiveBack(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	k := newMemoryKeeper()
	defer k.rest.Stop()
	large := make([]byte, 200<<20)
	runtime.GC()
	k.adjust()
	if !k.rest.Stop() {
		t.Error("nothing will be given back")
	}
	k.giveBack()
	k.adjust()
	if live := int64(len(large)); k.known < live || wastes(live, live, k.known) {
		t.Errorf("%d bytes that are used would be collected again: known to be alive are %d", live, k.known)
	}
	runtime.KeepAlive(large)
	runtime.GC()
	k.adjust()
	if k.known > 100<<20 {
		t.Errorf("with nothing alive, known to be alive are %d bytes", k.known)
	}
}

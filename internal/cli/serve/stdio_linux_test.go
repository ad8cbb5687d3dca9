package serve

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestWiden shows that a pipe to the editor gets room for a burst, and keeps more that it has.
func TestWiden(t *testing.T) {
	for _, size := range []int{64 << 10, pipeRoom, 1 << 20} {
		r, w, err := os.Pipe()
		must.Do(t, err)
		defer r.Close()
		defer w.Close()
		_, err = unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, size)
		must.Do(t, err)

		widen(w)

		got, err := unix.FcntlInt(r.Fd(), unix.F_GETPIPE_SZ, 0)
		must.Do(t, err)
		must.Equal(t, got, max(size, pipeRoom), "a pipe of", size)
	}
}

package stdio

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestMaxPerSecond: no second has more lines than the limit, from all senders together; a
// reply does not wait; a sender that gives up has sent nothing; and closing ends the wait.
func TestMaxPerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, w := io.Pipe()
		lines := make(chan string, 100)
		go func() { // ends with the pipe
			buf := make([]byte, 1<<10)
			for {
				n, err := out.Read(buf)
				if err != nil {
					close(lines)
					return
				}
				for range strings.Count(string(buf[:n]), "\n") {
					lines <- string(buf[:n])
				}
			}
		}()
		s := NewConn(strings.NewReader(""), w, &Options{MaxPerSecond: 10})
		if !s.Blocked() {
			t.Error("whoever sends is not told to merge")
		}
		began := time.Now()
		for range 11 {
			must.Do(t, s.Send(t.Context(), []byte("a\n")))
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("eleven lines took %v, and not a second", took)
		}
		began = time.Now()
		if err := s.Send(t.Context(), []byte("b\nb\nb\nb\nb\n")); err != nil || time.Since(began) != 500*time.Millisecond {
			t.Errorf("five lines that came together took %v, and not half a second: %v", time.Since(began), err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		if err := s.Send(ctx, []byte("d\n")); err != context.DeadlineExceeded {
			t.Errorf("a send that was given up: %v", err)
		}
		closed := make(chan error, 1)
		go func() { closed <- s.Send(t.Context(), []byte("e\n")) }() // ends with Close
		synctest.Wait()
		s.Close()
		if err := <-closed; err != errClosed {
			t.Errorf("a send that waits, when the connection is closed: %v", err)
		}
		w.Close()
		all := ""
		for range 11 + 5 {
			all += <-lines
		}
		if strings.ContainsAny(all, "de") {
			t.Errorf("what was given up was written: %q", all)
		}
	})
}

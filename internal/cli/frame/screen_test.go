package frame

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestScreen: after a second of silence the screen shows who is waited for, within the
// terminal's width and without control characters. The line is wiped before anything
// else is written. There is none in the middle of a line of stdout, or while somebody
// else has the terminal.
func TestScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got strings.Builder
		s := &Screen{Err: &got, Columns: func() int { return 40 }}
		out, err := &screenWriter{s, &got, true, false}, &screenWriter{s, &got, true, true}
		wait := func(d time.Duration) { <-time.After(d) }
		expect := func(want string) {
			t.Helper()
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			if got.String() != want {
				t.Errorf("got  %q\nwant %q", got.String(), want)
			}
			got.Reset()
		}
		s.WaitFor("an agent\x1b[2J\nof a name that is long")
		wait(2500 * time.Millisecond)
		expect("\r\x1b[K1s waiting for an agent␛[2J of a name …\r\x1b[K2s waiting for an agent␛[2J of a name …")
		io.WriteString(out, "words")
		expect("\r\x1b[Kwords")
		wait(3 * time.Second)
		expect("")
		io.WriteString(err, "note\n")
		expect("\nnote\n")
		s.Now("ls")
		wait(1600 * time.Millisecond)
		expect("\r\x1b[K1s waiting for ls (Ctrl-C cancels)")
		release := s.Hold()
		expect("\r\x1b[K")
		wait(3 * time.Second)
		expect("")
		release()
		wait(1900 * time.Millisecond)
		expect("\r\x1b[K1s waiting for ls (Ctrl-C cancels)")
		s.Line("failed", "", "a tool with a long name (and what it is about)", "exit code 2")
		expect("\r\x1b[Kfailed  a tool with a lon…: exit code 2\n")
		s.End()
		wait(3 * time.Second)
		expect("")
	})
}

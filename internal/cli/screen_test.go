package cli

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
)

// TestScreen: after a second of silence the screen shows who is waited for, within the
// terminal's width and without control characters. The line is wiped before anything
// else is written. There is none in the middle of a line of stdout, or while somebody
// else has the terminal.
func TestScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got strings.Builder
		s := &screen{err: &got, columns: func() int { return 40 }}
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
		s.waitFor("an agent\x1b[2J\nof a name that is long")
		wait(2500 * time.Millisecond)
		expect("\r\x1b[K1s waiting for an agent␛[2J of a name …\r\x1b[K2s waiting for an agent␛[2J of a name …")
		io.WriteString(out, "words")
		expect("\r\x1b[Kwords")
		wait(3 * time.Second)
		expect("")
		io.WriteString(err, "note\n")
		expect("\nnote\n")
		s.now("ls")
		wait(1600 * time.Millisecond)
		expect("\r\x1b[K1s waiting for ls (Ctrl-C cancels)")
		release := s.hold()
		expect("\r\x1b[K")
		wait(3 * time.Second)
		expect("")
		release()
		wait(1900 * time.Millisecond)
		expect("\r\x1b[K1s waiting for ls (Ctrl-C cancels)")
		s.line("failed", "", "a tool with a long name (and what it is about)", "exit code 2")
		expect("\r\x1b[Kfailed  a tool with a lon…: exit code 2\n")
		s.end()
		wait(3 * time.Second)
		expect("")
	})
}

// TestToolEnds: a line says how a call has ended, and not more than is known.
func TestToolEnds(t *testing.T) {
	for _, test := range []struct {
		status mapping.ToolStatus
		error  string
		want   string
	}{
		{mapping.ToolSucceeded, "", "done    ls\n"},
		{mapping.ToolFailed, "no such file", "failed  ls: no such file\n"},
		{mapping.ToolCancelled, "Not run: it was rejected.", "not run ls: Not run: it was rejected.\n"},
		{mapping.ToolCancelled, "The agent has not said what became of this call.", "unknown ls: The agent has not said what became of this call.\n"},
	} {
		call := &mapping.ToolCall{Name: "ls", Status: test.status}
		if test.error != "" {
			call.Error = &mapping.ErrorDetails{Message: test.error}
		}
		var got strings.Builder
		o := &textOutput{screen: &screen{err: &got, columns: func() int { return 80 }}}
		o.tool(&mapping.Step{Kind: mapping.StepTool, New: true, Tool: call})
		o.screen.end()
		if got.String() != test.want {
			t.Errorf("got %q, want %q", got.String(), test.want)
		}
	}
}

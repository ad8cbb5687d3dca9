package peers

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A server that is restarted at the same URL between two prompts has forgotten the
// conversation: the user is told once. If it dies during a prompt, the user reads that
// the bridge waits for it, and then that it has ended.
func TestGeminiRestarted(t *testing.T) {
	gemini(t) // it is installed, or the test is skipped
	t.Parallel()
	port, model := freePorts(t)
	run := t.TempDir()
	begin := func() (url string, end func()) { return startGemini(t, run, port, model) }
	url, end := begin()
	e := open(t, "--agent", url)
	work := filepath.Join(run, "ws")
	s := e.NewSession(work)
	const forgotten = "The agent begins another conversation"
	if o := e.Prompt(s, script("hello", work)).End("end_turn"); strings.Contains(o.Text, forgotten) {
		t.Errorf("nothing was forgotten: %q", o.Text)
	}
	end()
	_, end = begin()
	if o := e.Prompt(s, script("hello", work)).End("end_turn"); strings.Count(o.Text, forgotten) != 1 {
		t.Errorf("the server was restarted, and the user reads %q", o.Text)
	}
	if o := e.Prompt(s, script("hello", work)).End("end_turn"); strings.Contains(o.Text, forgotten) {
		t.Errorf("it is said again: %q", o.Text)
	}
	turn := e.Prompt(s, script("slow", work))
	turn.WaitText("chunk")
	killed := time.Now()
	end()
	o := turn.Wait()
	if took := time.Since(killed); took < 10*time.Second || took > 14*time.Second {
		t.Errorf("the turn has ended %v after the server", took)
	}
	contains(t, "the text", o.Text, "does not accept connections")
	contains(t, "the error", o.Details, "it has ended: for 10s nobody has accepted a connection")
}

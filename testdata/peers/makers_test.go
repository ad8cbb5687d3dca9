package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sentences are four turns of natural text, with words and whole turns that come again.
var sentences = []string{"the cat and the dog and the cat", "yes yes", "yes yes", "No, it is what it is: a list of\n- one\n- one"}

// talk sends the sentences, and wants the answers word by word.
func talk(t *testing.T, e *Editor, session string) {
	t.Helper()
	for _, text := range sentences {
		o := e.Prompt(session, text).End("end_turn")
		if _, said, _ := strings.Cut(o.Text, otherContext); said != "" { // a new context each time
			o.Text = said
		}
		if want := "You said " + text + ", which is the answer."; o.Text != want {
			t.Errorf("the agent says %q, want %q", o.Text, want)
		}
	}
}

const otherContext = "[The agent has answered in a conversation of another name, so that it may not know what was said before.]\n\n"

// sends compares what send shows of one prompt.
func sends(t *testing.T, url, text string) {
	t.Helper()
	out, err := exec.Command(binary, "--agent", url, "send", text).Output()
	if want := "You said " + text + ", which is the answer.\n"; err != nil || string(out) != want {
		t.Errorf("send shows %q, want %q: %v", out, want, err)
	}
}

// notAccused wants a trace in which nothing of the bridge's is wrong, but what is given.
func notAccused(t *testing.T, trace string) {
	t.Helper()
	out, _ := exec.Command(binary, "trace", "check", trace).Output() // its exit status is about the agent
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, ": bridge: ") {
			t.Errorf("trace check: %s", line)
		}
	}
	if _, err := os.Stat(trace); err != nil || len(out) == 0 {
		t.Errorf("no trace was checked: %v", err)
	}
}

// Reactive Agents: a status message that is a text, the answer behind the last state, another
// context for each message, and no tasks/cancel for what it works on.
func TestReactive(t *testing.T) {
	t.Parallel()
	url := jsAgent(t, "reactive-0.9.0")
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	e := open(t, "--agent", url, "--trace", trace)
	session := e.NewSession(t.TempDir())
	talk(t, e, session)
	if o := e.Prompt(session, "fail").Wait(); o.Code == "" || o.Details != "agent: model refused" {
		t.Errorf("the failure is %s: %s", o.summary(), o.Details)
	}
	turn := e.Prompt(session, "slow")
	e.Cancel(session)
	turn.End("cancelled")
	e.Close()
	notAccused(t, trace)
	sends(t, url, sentences[0])
}

// Google's ADK for JavaScript: pieces that are said again as a whole, a tool, and a confirmation
// whose answer its server does not take: it asks again. The turn ends then, and the next prompt
// is answered, in a new conversation.
func TestADKJS(t *testing.T) {
	t.Parallel()
	url := jsAgent(t, "adk-2.0.0")
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	e := open(t, "--agent", url, "--trace", trace)
	e.SetPolicy(Allow)
	session := e.NewSession(t.TempDir())
	talk(t, e, session)
	o := e.Prompt(session, "tool").End("end_turn")
	wantText(t, o, "The tool weather has answered.")
	if len(o.Calls) != 1 || o.Calls[0].Status != "completed" || !strings.Contains(o.Calls[0].Output(), "5 degrees in Oslo") {
		t.Errorf("the calls are %s", o.summary())
	}
	o = e.Prompt(session, "confirm").Wait()
	if len(o.Asked) != 1 || !strings.Contains(o.Details, "it asks about wipe: build again") {
		t.Errorf("asked %d times, %s: %s", len(o.Asked), o.summary(), o.Details)
	}
	talk(t, e, session)
	if o := e.Prompt(session, "fail").Wait(); o.Code == "" || !strings.Contains(o.Details, "model refused") {
		t.Errorf("the failure is %s: %s", o.summary(), o.Details)
	}
	e.Close()
	notAccused(t, trace)
	sends(t, url, sentences[0])
}

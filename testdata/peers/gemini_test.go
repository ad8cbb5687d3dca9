package peers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// geminiSession opens a session with the Gemini server in a directory of its own,
// where edit.txt holds two lines.
func geminiSession(t *testing.T) (e *Editor, session, dir string) {
	t.Helper()
	t.Parallel()
	e = open(t, "--agent", gemini(t))
	dir = workspace(t)
	return e, e.NewSession(dir), dir
}

func workspace(t *testing.T) string {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "edit.txt"), "alpha\nbeta\n")
	return dir
}

// script is the prompt that makes the model follow a script in a directory.
func script(name, dir string) string { return "[[" + name + "]] in " + dir }

func wantStatus(t *testing.T, o *Outcome, status string) {
	t.Helper()
	for _, c := range o.Calls {
		if c.Status != status {
			t.Errorf("the call %q is %s (%v), want %s: %s", c.Title, c.Status, c.Statuses, status, c.Output())
		}
	}
}

// Four turns of the model are one prompt: thoughts, text, three tools with an approval
// each (this version asks even for a directory's listing), in order. The tools have
// really run in the session's directory.
func TestGeminiMulti(t *testing.T) {
	e, s, dir := geminiSession(t)
	o := e.Prompt(s, script("multi", dir)).End("end_turn")
	if o.Text != "First I look around. Now I write. All done." {
		t.Errorf("the text is %q", o.Text)
	}
	for _, want := range []string{"**Step one**", "**Step two**", "**Step three**", "**Done**"} {
		contains(t, "the thoughts", o.Thoughts, want)
	}
	if len(o.Calls) != 3 || len(o.Asked) != 3 {
		t.Fatalf("three calls and three questions were expected: %s", o.summary())
	}
	wantStatus(t, o, "completed")
	if path, now, ok := o.Asked[1].Diff(); !ok || path != filepath.Join(dir, "hello.txt") || now != "hello\n" {
		t.Errorf("the second question shows %v, want the diff of hello.txt", o.Asked[1].Content)
	}
	contains(t, "the third question's title", o.Asked[2].Title, "cat hello.txt; sleep 0.2; touch done.tmp")
	if out := o.Calls[2].Output(); strings.Count(out, "hello") != 1 {
		t.Errorf("the command's output is %q, want hello once", out)
	}
	wantFile(t, "hello\n", dir, "hello.txt")
	wantFile(t, "", dir, "done.tmp")
}

// geminiTurns are scripts of one turn, whose calls are all answered alike.
var geminiTurns = []struct {
	name, script string
	rejected     bool
	calls        int
	text         string            // among what the agent says
	files        map[string]string // afterwards
	none         string            // a file that is not there
}{
	{"two edits", "two_edits", false, 2, "Both edits done.", map[string]string{"two.txt": "two\n", "edit.txt": "ALPHA\nbeta\n"}, ""},
	{"two rejected edits", "two_edits", true, 2, "", map[string]string{"edit.txt": "alpha\nbeta\n"}, "two.txt"},
	{"two commands", "two_shell", false, 2, "Both shells done.", map[string]string{"one.tmp": "", "two.tmp": ""}, ""},
	{"a rejected edit", "write", true, 1, "", nil, "hello.txt"},
	{"an edit after that", "write", false, 1, "Done. Created hello.txt.", map[string]string{"hello.txt": "hello world\n"}, ""},
	{"no call", "hello", false, 0, "Hello from the fake model.", nil, ""},
}

// Each call is asked about once, and done as it was answered; nothing is left pending, and the
// session goes on.
func TestGeminiTurns(t *testing.T) {
	e, s, dir := geminiSession(t)
	for _, turn := range geminiTurns {
		write(t, filepath.Join(dir, "edit.txt"), "alpha\nbeta\n")
		_ = os.Remove(filepath.Join(dir, "two.txt"))
		policy, status := Policy(Allow), "completed"
		if turn.rejected {
			policy, status = Reject, "failed"
		}
		e.SetPolicy(policy)
		from := len(e.lines())
		o := e.Prompt(s, script(turn.script, dir)).End("end_turn")
		asked := turn.calls
		if turn.rejected { // this server takes back what it has not asked about yet
			asked = 1
		}
		if len(o.Calls) != turn.calls || len(o.Asked) != asked {
			t.Errorf("%s: %d calls and questions were expected: %s", turn.name, turn.calls, o.summary())
		}
		wantStatus(t, o, status)
		contains(t, turn.name, o.Text, turn.text)
		for file, content := range turn.files {
			wantFile(t, content, dir, file)
		}
		if turn.none != "" {
			wantNoFile(t, dir, turn.none)
		}
		ids := map[string]bool{} // what the server sends in chunks is one message for the editor
		for _, l := range e.lines()[from:] {
			if l.update() == "agent_message_chunk" {
				ids[l.text("params.update.messageId")] = true
			}
		}
		if turn.calls == 0 && len(ids) != 1 {
			t.Errorf("the editor sees %d messages, and not one: %v", len(ids), ids)
		}
	}
	// A command runs in the session's directory, not in the server's or the bridge's.
	e.SetPolicy(Allow)
	o := e.Prompt(s, script("shell_pwd", dir)).End("end_turn")
	contains(t, "the output of pwd", onlyCall(t, o).Output(), dir)
	wantFile(t, "", dir, "here.tmp")
	wantNoFile(t, e.cmd.Dir, "here.tmp")
}

// Live output of a command: each line once though the server repeats the whole
// screen, without the blanks that pad it; it grows while the command runs.
func TestGeminiShell(t *testing.T) {
	e, s, dir := geminiSession(t)
	o := e.Prompt(s, script("shell", dir)).End("end_turn")
	call := onlyCall(t, o)
	statuses(t, call, "pending", "in_progress", "completed")
	for i := 1; i <= 5; i++ {
		if n := strings.Count(call.Output(), fmt.Sprintf("line %d of 5", i)); n != 1 {
			t.Errorf("line %d is there %d times: %q", i, n, call.Output())
		}
	}
	if strings.Contains(call.Output(), "of 5  ") {
		t.Errorf("the output has blanks at the end of its lines: %q", call.Output())
	}
	if len(call.Shown) < 3 {
		t.Errorf("the output did not grow while the command ran: %q", call.Shown)
	}
	contains(t, "the text", o.Text, "Command finished.")
}

// "Always" for a command allows only that command, whatever programs the server names:
// it strips assignments and paths.
func TestGeminiAlways(t *testing.T) {
	e, s, dir := geminiSession(t)
	for i, command := range []string{"git --version", "git --version", "PATH=/evil:$PATH git --version", "A=1; B=2 git --version", "GIT_SSH_COMMAND=x git --version",
		"./git --version", "/evil/git --version", "git  --version", "git --version; true"} {
		if i == 0 {
			e.SetPolicy(AllowAlways)
		} else {
			e.SetPolicy(Reject)
		}
		o := e.Prompt(s, script(fmt.Sprintf("git%d", i), dir)).End("end_turn")
		call := onlyCall(t, o)
		if asked := len(o.Asked) == 1; asked != (i != 1) {
			t.Errorf("%q: asked %v", command, asked)
		}
		want := "failed"
		if i < 2 {
			want = "completed"
		}
		if call.Title != command || call.Status != want {
			t.Errorf("%q is shown as %q, and is %s, not %s", command, call.Title, call.Status, want)
		}
	}
}

// cancelLimit is the bridge's grace period, and some time for a busy machine.
const cancelLimit = 20 * time.Second

// cancelled cancels a turn, and demands that the session then works.
func cancelled(t *testing.T, e *Editor, turn *Turn, dir string) *Outcome {
	t.Helper()
	began := time.Now()
	e.Cancel(turn.session)
	o := turn.End("cancelled")
	took := time.Since(began)
	if took > cancelLimit {
		t.Errorf("the cancel took %v", took)
	}
	t.Logf("the cancel took %v", took.Round(time.Millisecond))
	e.SetPolicy(Allow)
	next := e.Prompt(turn.session, script("write", dir)).End("end_turn")
	contains(t, "the next prompt's text", next.Text, "Done. Created hello.txt.")
	if strings.Contains(next.Text, "chunk") || len(next.Calls) != 1 {
		t.Errorf("what was cancelled appears in the next turn: %q %s", next.Text, next.summary())
	}
	wantFile(t, "hello world\n", dir, "hello.txt")
	return o
}

// Cancels while the model talks, while a command runs, and during a question, which the user then
// does not answer.
func TestGeminiCancel(t *testing.T) {
	for _, moment := range []struct {
		script, unwritten string
		policy            Policy
		wait              func(*Turn)
	}{
		{"slow", "", Allow, func(turn *Turn) { turn.WaitText("chunk2 ") }},
		{"shell_long", "", Allow, func(turn *Turn) { turn.WaitOutput("line 2 of 60") }},
		{"shell_echo", "again.tmp", Hold, func(turn *Turn) { turn.WaitPermission() }},
	} {
		t.Run(moment.script, func(t *testing.T) {
			e, s, dir := geminiSession(t)
			e.SetPolicy(moment.policy)
			turn := e.Prompt(s, script(moment.script, dir))
			moment.wait(turn)
			if o := cancelled(t, e, turn, dir); strings.Contains(o.Text, "chunk9 ") {
				t.Errorf("the model went on: %q", o.Text)
			}
			if moment.unwritten != "" {
				wantNoFile(t, dir, moment.unwritten)
			}
		})
	}
}

// The conversation goes on in one task: a second prompt, after longer than the
// server keeps idle connections, is answered as well.
func TestGeminiNextPrompt(t *testing.T) {
	e, s, dir := geminiSession(t)
	e.Prompt(s, script("hello", dir)).End("end_turn")
	// The server closes idle connections after 5 s, or up to 6. A prompt at that moment is
	// reported as lost, and not sent again.
	<-time.After(8 * time.Second)
	o := e.Prompt(s, script("write", dir)).End("end_turn")
	contains(t, "the text", o.Text, "Done. Created hello.txt.")
	wantFile(t, "hello world\n", dir, "hello.txt")
}

// An error of the model reaches the user in the agent's words, and the next
// prompt works. (This version does not fail the task: it says the error as text,
// beside metadata.error, and waits for input.)
func TestGeminiModelError(t *testing.T) {
	e, s, dir := geminiSession(t)
	o := e.Prompt(s, script("err400", dir)).Wait()
	contains(t, "what the user sees", o.Text+o.Details, "fake bad request")
	o = e.Prompt(s, script("hello", dir)).End("end_turn")
	contains(t, "the text", o.Text, "from the fake model.")
}

// Six sessions of one bridge wait for an approval; beside them, the cancel of a
// seventh fails at a gateway until the bridge gives up, and a second bridge comes
// and goes. The server drops the approvals of a connection that is closed, so six
// files prove that no connection was.
func TestGeminiPendingApprovals(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	gateway := proxied(t, gemini(t), "--fault", "status=503@tasks/cancel*0")
	e := open(t, "--agent", gateway, "--trace", trace)
	e.SetPolicy(Hold)
	const n = 6
	var dirs [n]string
	var turns [n]*Turn
	var asked [n]*Permission
	for i := range n {
		dirs[i] = workspace(t)
		turns[i] = e.Prompt(e.NewSession(dirs[i]), script("write", dirs[i]))
	}
	for i := range n {
		asked[i] = turns[i].WaitPermission()
	}

	dir := workspace(t)
	seventh := e.Prompt(e.NewSession(dir), script("slow", dir))
	seventh.WaitText("chunk2 ")
	e.Cancel(seventh.session)
	seventh.End("cancelled")
	if !strings.Contains(string(readFile(t, trace)), `"status":503`) {
		t.Error("the gateway was to refuse the cancel, and has not seen it")
	}

	other := open(t, "--agent", gateway)
	other.Prompt(other.NewSession(dir), script("hello", dir)).End("end_turn")
	other.Close()

	for i := range n {
		asked[i].Answer(Once)
	}
	for i := range n {
		o := turns[i].End("end_turn")
		contains(t, "the text", o.Text, "Done. Created hello.txt.")
		wantFile(t, "hello world\n", dirs[i], "hello.txt")
	}
}

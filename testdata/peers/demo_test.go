package peers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const greeting = "Hello from the a2astdio demo agent.\n"

// demo opens a session with the embedded agent in a directory of its own.
func demo(t *testing.T) (e *Editor, session, dir string) {
	t.Helper()
	t.Parallel()
	dir = t.TempDir()
	e = open(t, "--agent", "demo")
	return e, e.NewSession(dir), dir
}

func contains(t *testing.T, what, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s is %q, want it to contain %q", what, got, want)
	}
}

// onlyCall returns the turn's one call.
func onlyCall(t *testing.T, o *Outcome) *Call {
	t.Helper()
	if len(o.Calls) != 1 {
		t.Fatalf("one call was expected: %s", o.summary())
	}
	return o.Calls[0]
}

func statuses(t *testing.T, c *Call, want ...string) {
	t.Helper()
	if !slices.Equal(slices.Compact(slices.Clone(c.Statuses)), want) {
		t.Errorf("the call %q went through %v, want %v", c.Title, c.Statuses, want)
	}
}

// A thought and the whole text arrive, in order, before the prompt's response.
func TestDemoHello(t *testing.T) {
	e, s, _ := demo(t)
	o := e.Prompt(s, "hello").End("end_turn")
	contains(t, "the thought", o.Thoughts, "**Greeting**")
	if o.Text != strings.TrimSpace(greeting) {
		t.Errorf("the text is %q", o.Text)
	}
}

// An approved edit shows its diff in the question, and writes the file below the
// session's directory, not the process's.
func TestDemoEditApproved(t *testing.T) {
	e, s, dir := demo(t)
	write(t, filepath.Join(dir, "notes.txt"), "mine\n")
	o := e.Prompt(s, "edit notes.txt").End("end_turn")
	if len(o.Asked) != 1 {
		t.Fatalf("one question was expected: %s", o.summary())
	}
	path, now, ok := o.Asked[0].Diff()
	if !ok || path != filepath.Join(dir, "notes.txt") || now != "mine\n"+greeting {
		t.Errorf("the question shows %v first, want the diff of %s", o.Asked[0].Content, filepath.Join(dir, "notes.txt"))
	}
	call := onlyCall(t, o)
	statuses(t, call, "pending", "in_progress", "completed")
	if path, _, ok := call.Diff(); !ok || path != filepath.Join(dir, "notes.txt") {
		t.Errorf("the finished call shows %v, want the diff", call.Content)
	}
	wantFile(t, "mine\n"+greeting, dir, "notes.txt")
	wantNoFile(t, e.cmd.Dir, "notes.txt")
}

// A rejected edit writes nothing, the call ends as failed, the turn normally.
func TestDemoEditRejected(t *testing.T) {
	for name, policy := range map[string]Policy{"reject": Reject, "dismiss": Dismiss} {
		t.Run(name, func(t *testing.T) {
			e, s, dir := demo(t)
			e.SetPolicy(policy)
			o := e.Prompt(s, "edit").End("end_turn")
			statuses(t, onlyCall(t, o), "pending", "failed")
			contains(t, "the text", o.Text, "I leave hello.txt as it is")
			wantNoFile(t, dir, "hello.txt")
		})
	}
}

// An "always" holds for its session, and for no other.
func TestDemoAlways(t *testing.T) {
	e, s, dir := demo(t)
	e.SetPolicy(AllowAlways)
	if o := e.Prompt(s, "edit a.txt").End("end_turn"); len(o.Asked) != 1 {
		t.Errorf("the first edit should ask: %s", o.summary())
	}
	if o := e.Prompt(s, "edit b.txt").End("end_turn"); len(o.Asked) != 0 {
		t.Errorf("the second edit should not ask: %s", o.summary())
	}
	if o := e.Prompt(s, "shell").End("end_turn"); len(o.Asked) != 1 {
		t.Errorf("a command is no edit, it should ask: %s", o.summary())
	}
	other := t.TempDir()
	if o := e.Prompt(e.NewSession(other), "edit c.txt").End("end_turn"); len(o.Asked) != 1 {
		t.Errorf("the other session should ask: %s", o.summary())
	}
	wantFile(t, greeting, dir, "a.txt")
	wantFile(t, greeting, dir, "b.txt")
	wantFile(t, greeting, other, "c.txt")
}

// The output of a command grows in place and ends whole.
func TestDemoShell(t *testing.T) {
	e, s, _ := demo(t)
	o := e.Prompt(s, "shell").End("end_turn")
	call := onlyCall(t, o)
	statuses(t, call, "pending", "in_progress", "completed")
	contains(t, "the title", call.Title, "echo one && echo two && echo three")
	contains(t, "the output", call.Output(), "one\ntwo\nthree")
	if call.Kind != "execute" || strings.Count(call.Output(), "one\n") != 1 {
		t.Errorf("the call's kind is %s and its output %q", call.Kind, call.Output())
	}
}

// A question in prose ends the turn, and the next prompt is its answer: the task
// goes on.
func TestDemoAsk(t *testing.T) {
	e, s, _ := demo(t)
	o := e.Prompt(s, "ask").End("end_turn")
	contains(t, "the question", o.Text, "Which colour shall it be?")
	o = e.Prompt(s, "green").End("end_turn")
	if o.Text != "So it is green." {
		t.Errorf("the answer to the answer is %q", o.Text)
	}
}

// Two calls that ask in one pause are asked about one after the other, and each
// answer reaches its own call.
func TestDemoMany(t *testing.T) {
	e, s, dir := demo(t)
	e.SetPolicy(func(p *Permission) string {
		if p.Kind == "edit" {
			return No
		}
		return Once
	})
	o := e.Prompt(s, "many").End("end_turn")
	if len(o.Asked) != 2 || len(o.Calls) != 2 {
		t.Fatalf("two calls and two questions were expected: %s", o.summary())
	}
	for _, c := range o.Calls {
		want := "completed"
		if c.Kind == "edit" {
			want = "failed"
		}
		if c.Status != want {
			t.Errorf("the call %q is %s, want %s", c.Title, c.Status, want)
		}
	}
	wantNoFile(t, dir, "hello.txt")
	if e.SetPolicy(Allow); len(e.Prompt(s, "many").End("end_turn").Asked) != 2 {
		t.Error("allowing once is not allowing the next time")
	}
	wantFile(t, greeting, dir, "hello.txt")
}

// A cancel ends the turn as cancelled, at once, and the session goes on.
func TestDemoSlowCancel(t *testing.T) {
	e, s, _ := demo(t)
	turn := e.Prompt(s, "slow")
	turn.WaitText("tick 2 of 60")
	began := time.Now()
	e.Cancel(s)
	o := turn.End("cancelled")
	if took := time.Since(began); took > time.Second {
		t.Errorf("the cancel took %v, and this agent obeys at once", took)
	}
	if strings.Contains(o.Text, "tick 9 of") {
		t.Error("the story went on")
	}
	if o := e.Prompt(s, "hello").End("end_turn"); o.Text != strings.TrimSpace(greeting) {
		t.Errorf("the next prompt's text is %q", o.Text)
	}
}

// A cancel during a question ends the turn without an answer (avante), does not run the
// call, and the session goes on.
func TestDemoCancelWhileAsking(t *testing.T) {
	e, s, dir := demo(t)
	e.SetPolicy(Hold)
	turn := e.Prompt(s, "edit")
	turn.WaitPermission()
	e.Cancel(s)
	turn.End("cancelled")
	wantNoFile(t, dir, "hello.txt")
	e.SetPolicy(Allow)
	e.Prompt(s, "edit again.txt").End("end_turn")
	wantFile(t, greeting, dir, "again.txt")
}

// A failed task is an error of the prompt, with the agent's text where editors look for
// it, and the session goes on.
func TestDemoFail(t *testing.T) {
	e, s, _ := demo(t)
	o := e.Prompt(s, "fail").Wait()
	if o.Code != "-32603" {
		t.Errorf("a failed task is the error -32603 in ACP, not %q %s", o.StopReason, o.Code)
	}
	contains(t, "the text before", o.Text, "I will try.")
	contains(t, "the error", o.Details, "the demo agent failed, as it was asked to")
	e.Prompt(s, "hello").End("end_turn")
}

// Ten thousand chunks: nothing is lost, doubled or out of order.
func TestDemoLong(t *testing.T) {
	e, s, _ := demo(t)
	began := time.Now()
	o := e.Prompt(s, "long").End("end_turn")
	wantLong(t, o.Text)
	t.Logf("10000 chunks in %d updates, %v", o.Chunks, time.Since(began).Round(time.Millisecond))
}

func wantLong(t *testing.T, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if line != fmt.Sprintf("chunk %d", i+1) {
			t.Fatalf("line %d of %d is %q", i+1, len(lines), line)
		}
	}
	if len(lines) != 10_000 {
		t.Errorf("%d chunks have arrived, want 10000", len(lines))
	}
}

// A call of an MCP server's tool names the server and the tool in the question.
func TestDemoMCP(t *testing.T) {
	e, s, _ := demo(t)
	o := e.Prompt(s, "mcp").End("end_turn")
	call := onlyCall(t, o)
	statuses(t, call, "pending", "in_progress", "completed")
	contains(t, "the title", o.Asked[0].Title, "demo-tracker")
	contains(t, "the title", o.Asked[0].Title, "get_issue")
	contains(t, "the output", call.Output(), "issue 7")
}

// A question of no special kind shows its subject; its structured result arrives as
// data.
func TestDemoGeneric(t *testing.T) {
	e, s, _ := demo(t)
	o := e.Prompt(s, "generic").End("end_turn")
	call := onlyCall(t, o)
	contains(t, "the question", fmt.Sprint(o.Asked[0].Content), "Look out of the window")
	if at(call.Raw, "sky") != "clear" {
		t.Errorf("rawOutput is %v", call.Raw)
	}
	statuses(t, call, "pending", "in_progress", "completed")
}

// A tool that fails says why, and does not fail the turn.
func TestDemoError(t *testing.T) {
	e, s, _ := demo(t)
	o := e.Prompt(s, "error").End("end_turn")
	call := onlyCall(t, o)
	statuses(t, call, "pending", "in_progress", "failed")
	contains(t, "the call", call.Output(), "the page does not exist")
}

// ACP cannot change a proposal, so the edit is written as proposed.
func TestDemoModify(t *testing.T) {
	e, s, dir := demo(t)
	e.Prompt(s, "modify plan.txt").End("end_turn")
	wantFile(t, greeting, dir, "plan.txt")
}

// A list of todos is a plan, replaced as a whole, and no tool call beside it.
func TestDemoTodos(t *testing.T) {
	e, s, _ := demo(t)
	o := e.Prompt(s, "todos").End("end_turn")
	if len(o.Calls) != 0 {
		t.Errorf("there should be a plan and no call: %s", o.summary())
	}
	var got []string
	for _, entry := range o.Plan {
		got = append(got, fmt.Sprint(at(entry, "content"), ": ", at(entry, "status")))
	}
	want := []string{"read the code: completed", "write a test: completed", "make it pass: in_progress"}
	if !slices.Equal(got, want) {
		t.Errorf("the plan is %q, want %q", got, want)
	}
}

// At the end of input, in the middle of a turn and during a question, the bridge ends
// within a second, with status 0 and nothing on stderr (checked by Close, as
// everywhere).
func TestDemoEndOfInput(t *testing.T) {
	t.Run("streaming", func(t *testing.T) {
		e, s, _ := demo(t)
		e.Prompt(s, "slow").WaitText("tick 1 of")
		e.Close()
	})
	t.Run("asking", func(t *testing.T) {
		e, s, dir := demo(t)
		e.SetPolicy(Hold)
		e.Prompt(s, "edit").WaitPermission()
		e.Close()
		wantNoFile(t, dir, "hello.txt")
	})
	t.Run("before initialize", func(t *testing.T) {
		t.Parallel()
		start(t, "--agent", "demo").Close()
	})
}

// At the end of input while stdout is full and nobody reads it, the rest cannot be
// written, and the bridge ends all the same. (A client that has stopped reading, as
// coder/acp-go-sdk does when its queue is full, must leave no process behind.)
func TestDemoEndOfInputUnread(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(binary, "--agent", "demo")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	r := bufio.NewReader(stdout)
	next := func() map[string]any {
		var m map[string]any
		line, err := r.ReadBytes('\n')
		if err != nil || json.Unmarshal(line, &m) != nil {
			t.Errorf("reading: %q, %v", line, err)
		}
		return m
	}
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	next()
	fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", t.TempDir())
	session := at(next(), "result.sessionId")
	fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"long"}]}}`+"\n", session)
	for range 5 {
		next()
	}
	// A pipe holds 64 KiB, and the story is twice as long. Nobody can see from here when
	// it is full, so it gets time. If it is not full, the test proves less, but does not
	// fail.
	<-time.After(500 * time.Millisecond)
	began := time.Now()
	stdin.Close()
	go func() { // ends with the process
		_, _ = cmd.Process.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		if took := time.Since(began); took > exitTime+500*time.Millisecond {
			t.Errorf("the bridge ended %v after its input, while stdout was full", took.Round(time.Millisecond))
		}
	case <-time.After(10 * exitTime):
		t.Errorf("the bridge goes on %v after the end of its input, while stdout is full", 10*exitTime)
		_ = cmd.Process.Kill()
		<-ended
	}
}

// Ten sessions of one bridge work at once, each in its own directory, and what
// one shows never appears in another.
func TestDemoSessions(t *testing.T) {
	e, _, _ := demo(t)
	var turns []*Turn
	var dirs []string
	for i := range 10 {
		dirs = append(dirs, t.TempDir())
		turns = append(turns, e.Prompt(e.NewSession(dirs[i]), fmt.Sprintf("edit file%d.txt", i)))
	}
	for i, turn := range turns {
		o := turn.End("end_turn")
		contains(t, "the text", o.Text, fmt.Sprintf("I wrote file%d.txt", i))
		wantFile(t, greeting, dirs[i], fmt.Sprintf("file%d.txt", i))
	}
}

package peers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A tsClient is a client of ACP's version 2, made with the SDK for TypeScript: acpts/v2.mjs, which
// has its words.
type tsClient struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	in     *json.Encoder
	out    *bufio.Scanner
	stderr bytes.Buffer
	close  func() error
}

// tsSeen is what the user has seen of a step.
type tsSeen struct {
	Hello struct {
		ProtocolVersion int
		Capabilities    struct{ Session map[string]any }
	}
	SessionID, MessageID, StopReason, Error string
	States, Notices, Other                  []string
	Asked                                   []struct {
		Title, Description string
		Subject            struct {
			Type, Command, Cwd string
			ToolCall           struct{ Content []any }
		}
	}
	Items []*tsItem
}

// A tsItem is a message, a thought, a call or a terminal, as it is at the end of the step.
type tsItem struct {
	What, ID, Text, Title, Status string
	Replaced                      int
	Content                       []any
	ExitStatus                    map[string]any
}

func (s *tsSeen) of(kind string) (items []*tsItem) {
	for _, i := range s.Items {
		if i.What == kind {
			items = append(items, i)
		}
	}
	return items
}

func (s *tsSeen) text() string {
	var all []string
	for _, i := range s.of("agent_message") {
		all = append(all, i.Text)
	}
	return strings.Join(all, "|")
}

func startTS(t *testing.T, home string, args ...string) *tsClient {
	t.Helper()
	needNode(t, 20)
	sdk := installNPM(t, "acp-ts", filepath.Join("acpts", "package.json"))
	c := &tsClient{t: t, dir: home}
	ctx, stop := context.WithTimeout(context.Background(), 2*patience)
	c.cmd = exec.CommandContext(ctx, "node", append([]string{filepath.Join("acpts", "v2.mjs"), sdk, home, binary}, args...)...)
	c.cmd.Env, c.cmd.Stderr = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, &c.stderr
	stdin, stdout := startPiped(t, c.cmd)
	c.in, c.out, c.close = json.NewEncoder(stdin), bufio.NewScanner(stdout), sync.OnceValue(func() error {
		defer stop()
		stdin.Close()
		return c.cmd.Wait()
	})
	c.out.Buffer(nil, 1<<20)
	t.Cleanup(func() {
		if err := c.close(); err != nil || c.stderr.Len() > 0 {
			t.Errorf("the client: %v, stderr %q", err, c.stderr.String())
		}
	})
	return c
}

// do has the user do something, and returns what he sees of it.
func (c *tsClient) do(what string, more ...any) *tsSeen {
	c.t.Helper()
	step := map[string]any{"do": what}
	for i := 0; i < len(more); i += 2 {
		step[more[i].(string)] = more[i+1]
	}
	var s tsSeen
	if err := c.in.Encode(step); err != nil || !c.out.Scan() || json.Unmarshal(c.out.Bytes(), &s) != nil {
		_ = c.close()
		c.t.Fatalf("the client at %v: %v %q, and stderr %s", step, err, c.out.Text(), c.stderr.String())
	}
	return &s
}

// prompt runs a turn, which ends so.
func (c *tsClient) prompt(text, pick, stop string, more ...any) *tsSeen {
	c.t.Helper()
	s := c.do("prompt", append([]any{"text", text, "pick", pick}, more...)...)
	users := s.of("user_message")
	if s.StopReason != stop || s.States[0] != "running" || s.States[len(s.States)-1] != "idle" {
		c.t.Errorf("%s: the turn ended with %q %s, %q wanted; states %q", text, s.StopReason, s.Error, stop, s.States)
	}
	if len(users) != 1 || users[0].ID != s.MessageID || users[0].Text != text {
		c.t.Errorf("%s: the user's message is %+v, and the prompt was accepted as %q", text, users, s.MessageID)
	}
	return s
}

// The demo agent, seen by a client of version 2.
func TestTypeScript2(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := startTS(t, home, "--agent", "demo")
	session := c.do("new").SessionID
	hello := c.prompt("hello", "", "end_turn")
	if hello.Hello.ProtocolVersion != 2 || hello.Hello.Capabilities.Session == nil {
		t.Errorf("initialize: %+v", hello.Hello)
	}
	if thoughts := hello.of("agent_thought"); hello.text() != strings.TrimSpace(greeting) || len(thoughts) != 1 || !strings.Contains(thoughts[0].Text, "Somebody says hello") {
		t.Errorf("hello: %q, thoughts %+v", hello.text(), thoughts)
	}
	if s := c.prompt("fail", "", "error"); !strings.Contains(s.Error, "failed") {
		t.Errorf("fail: the error is %q", s.Error)
	}
	if s := c.prompt("todos", "", "end_turn"); !slices.Contains(s.Other, "plan_update") {
		t.Errorf("todos: no plan, and %q", s.Other)
	}
	for _, how := range []struct{ name, pick, status string }{{"allowed.txt", Once, "completed"}, {"rejected.txt", No, "cancelled"}, {"dismissed.txt", Dismissed, "cancelled"}} {
		s := c.prompt("edit "+how.name, how.pick, "end_turn")
		calls := s.of("call")
		if len(s.Asked) != 1 || s.Asked[0].Title == "" || len(s.Asked[0].Subject.ToolCall.Content) == 0 || len(calls) != 1 || calls[0].Status != how.status {
			t.Errorf("edit, %s: asked %+v, calls %+v", how.pick, s.Asked, calls)
			continue
		}
		diff := s.Asked[0].Subject.ToolCall.Content[0]
		path := filepath.Join(home, how.name)
		if at(diff, "type") != "diff" || at(diff, "changes.0.operation") != "add" || at(diff, "changes.0.path") != path || at(diff, "patch.format") != "git_patch" {
			t.Errorf("edit, %s: the diff is %v", how.pick, diff)
		}
		contains(t, "the patch", fmt.Sprint(at(diff, "patch.text")), "+"+strings.TrimSpace(greeting))
		if how.pick == Once {
			wantFile(t, greeting, path)
		} else {
			wantNoFile(t, path)
		}
	}
	shell := c.prompt("shell", Once, "end_turn")
	if len(shell.Asked) != 1 || shell.Asked[0].Subject.Type != "command" || shell.Asked[0].Subject.Cwd != home || shell.Asked[0].Subject.Command == "" {
		t.Errorf("shell: asked %+v", shell.Asked)
	}
	if terminals := shell.of("terminal"); len(terminals) != 1 || terminals[0].Text == "" || terminals[0].ExitStatus == nil {
		t.Errorf("shell: the terminals are %+v", terminals)
	}
	c.prompt("edit late.txt", "", "cancelled") // in the place of an answer
	wantNoFile(t, home, "late.txt")
	slow := c.prompt("slow", "", "cancelled", "cancelAt", "tick 2 of")
	contains(t, "what was said before the cancellation", slow.text(), "tick 1 of")
	if err := c.close(); err != nil {
		t.Error(err)
	}

	again := startTS(t, home, "--agent", "demo").do("resume", "session", session)
	if again.text() == "" || len(again.of("user_message")) != 9 || !slices.Equal(again.States, []string{"idle"}) {
		t.Errorf("resumed: %q, %d prompts, states %q", again.text(), len(again.of("user_message")), again.States)
	}
	for i, was := range []*tsItem{hello.of("user_message")[0], hello.of("agent_thought")[0], hello.of("agent_message")[0]} {
		if got := again.Items[i]; got.What != was.What || got.Text != was.Text || was.What == "user_message" && got.ID != was.ID {
			t.Errorf("resumed: item %d is %+v, and was %+v", i, got, was)
		}
	}
}

// A connection that breaks in the middle of an answer: the message goes on where it stands.
func TestTypeScript2Cut(t *testing.T) {
	t.Parallel()
	for _, after := range []int{4, 5, 6} {
		trace := filepath.Join(t.TempDir(), "trace.jsonl")
		c := startTS(t, t.TempDir(), "--agent", proxied(t, listen(t), "--fault", fmt.Sprintf("cut-after=%devents@SendStreamingMessage", after)), "--trace", trace)
		c.do("new")
		s := c.prompt("hello", "", "end_turn")
		if cuts := strings.Count(string(readFile(t, trace)), `"reason":"cut"`); s.text() != strings.TrimSpace(greeting) || len(s.of("agent_thought")) != 1 || cuts != 1 {
			t.Errorf("cut behind event %d: %q, %d thoughts, %d cuts", after, s.text(), len(s.of("agent_thought")), cuts)
		}
	}
}

// An agent that says an artifact anew replaces it where it stands.
func TestTypeScript2Replaced(t *testing.T) {
	t.Parallel()
	c := startTS(t, t.TempDir(), "--agent", sdkServer(t, goV2))
	c.do("new")
	s := c.prompt("draft", "", "end_turn")
	if texts := s.of("agent_message"); s.text() != "working on it|The final text." || texts[1].Replaced != 1 {
		t.Errorf("the answer is %q: %+v", s.text(), texts)
	}
}

// A task whose turn is over, and that goes on since somebody else answers it: the client sees what
// comes of it.
func TestTypeScript2After(t *testing.T) {
	t.Parallel()
	agent := sdkServer(t, goV2)
	c := startTS(t, t.TempDir(), "--agent", agent)
	c.do("new")
	if s := c.prompt("ask", "", "end_turn"); s.text() != "working on it|which city?" {
		t.Errorf("the question is %q", s.text())
	}
	var list struct{ Tasks []struct{ ID string } }
	mustDo(t, json.Unmarshal([]byte(a2astdio(t, 0, "--agent", agent, "task", "list", "-o", "json")), &list))
	a2astdio(t, 0, "--agent", agent, "send", "--task-id", list.Tasks[0].ID, "Paris")
	if after := c.do("wait"); after.text() != "working on it" || after.StopReason != "end_turn" || after.States[0] != "running" {
		t.Errorf("behind the turn: %q %s, states %q", after.text(), after.StopReason, after.States)
	}
}

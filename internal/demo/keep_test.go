package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// next continues with another agent, which has only what the last one has stored.
func (c *client) next(opts *Options) {
	c.t.Helper()
	if c.agent != nil {
		c.agent.Close()
	}
	c.agent = New(opts)
	p := c.agent.Pipe()
	transport := &http.Transport{DialContext: p.DialContext}
	c.http = &http.Client{Transport: transport}
	agent := c.agent
	c.t.Cleanup(func() {
		transport.CloseIdleConnections()
		p.Close()
		agent.Close()
	})
}

func keepIn(t *testing.T, dir string) *Options {
	return &Options{Pace: -1, Keep: func() (string, error) { return dir, nil },
		Warn: func(err error) { t.Error(err) }}
}

// keeping is a client of an agent that keeps its tasks.
func keeping(t *testing.T, opts *Options, workspace string) *client {
	c := &client{t: t, header: http.Header{}, dir: workspace}
	c.header.Set("X-A2A-Extensions", ExtensionURI)
	c.next(opts)
	return c
}

var (
	anyID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	anyTime = regexp.MustCompile(`"timestamp":"[^"]*"`)
)

// anonymous is a result without what differs from run to run.
func anonymous(result any, dir string) string {
	raw, _ := json.Marshal(result)
	quoted, _ := json.Marshal(dir)
	s := strings.ReplaceAll(string(raw), strings.Trim(string(quoted), `"`), "DIR")
	var ids []string
	s = anyID.ReplaceAllStringFunc(s, func(id string) string {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		return fmt.Sprint("id", slices.Index(ids, id))
	})
	return anyTime.ReplaceAllString(s, "")
}

// TestKeepStories: another process continues a story at each of its pauses; it tells
// and does the same as in one process.
func TestKeepStories(t *testing.T) {
	var prompts []string
	for _, s := range tales() {
		if s.word != "slow" && s.word != "long" && s.word != "between" { // two wait for nobody, one for long
			prompts = append(prompts, s.word)
		}
	}
	prompts = append(prompts, "anew many", "anew always", "between 10", "bare none", "always same same", "edit sub/odd.bin")
	for _, prompt := range prompts {
		for _, option := range []string{"proceed_once", "proceed_always", "cancel"} {
			t.Run(prompt+" "+option, func(t *testing.T) {
				var told [2][]string
				for i, restart := range []bool{false, true} {
					dir, parent := t.TempDir(), t.TempDir()
					workspace := filepath.Join(parent, "w")
					odd := filepath.Join(workspace, "sub", "odd.bin")
					if err := os.MkdirAll(filepath.Dir(odd), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(odd, []byte("no text: \xff\xfe\n"), 0o600); err != nil {
						t.Fatal(err)
					}
					c := keeping(t, keepIn(t, dir), workspace)
					lines := c.prompt(prompt)
					for n := 0; c.state() == stateInputRequired && prompt != "bare none"; n++ {
						if n > 9 {
							t.Fatal("it asks and asks")
						}
						if restart {
							c.next(keepIn(t, dir))
						}
						if len(c.calls) > 0 {
							lines = append(lines, c.confirm(c.nearest(option))...)
						} else {
							lines = append(lines, c.reply("blue")...)
						}
					}
					if restart {
						c.next(keepIn(t, dir))
					}
					got, err := c.call("tasks/get", map[string]any{"id": c.taskID})
					if err != "" {
						t.Fatal(err)
					}
					content, _ := os.ReadFile(odd)
					for j := range lines {
						lines[j] = strings.ReplaceAll(lines[j], parent, "DIR")
					}
					told[i] = append(lines, anonymous(got, parent), string(content))
				}
				if !slices.Equal(told[0], told[1]) {
					t.Errorf("in one process:\n%s\nin several:\n%s", strings.Join(told[0], "\n"), strings.Join(told[1], "\n"))
				}
			})
		}
	}
}

// TestKeepPart: each of two processes answers one of two questions.
func TestKeepPart(t *testing.T) {
	dir, workspace := t.TempDir(), t.TempDir()
	c := keeping(t, keepIn(t, dir), workspace)
	c.prompt("many")
	answers := c.answers("proceed_once")
	for _, a := range answers {
		c.next(keepIn(t, dir))
		c.open("message/stream", c.message(c.taskID, a)).rest()
	}
	if _, err := os.Stat(filepath.Join(workspace, "hello.txt")); err != nil || c.state() != stateCompleted || len(c.agent.Executed()) != 2 {
		t.Error(err, c.state(), c.agent.Executed())
	}
}

// TestKeepList: the next process has the list, the context and what was allowed in it.
func TestKeepList(t *testing.T) {
	dir := t.TempDir()
	c := keeping(t, keepIn(t, dir), t.TempDir())
	c.prompt("shell")
	c.confirm("proceed_always")
	first := c.taskID
	c.next(keepIn(t, dir))
	m := with(c.message("", text("shell")), "contextId", c.contextID)
	delete(m["message"].(map[string]any), "metadata") // the session has them
	lines := c.open("message/stream", m).rest()
	if last := lines[len(lines)-1]; last != "completed (final)" {
		t.Errorf("what was allowed is asked for: %s", lines)
	}
	c.next(keepIn(t, dir))
	got, err := c.call("tasks/list", map[string]any{})
	tasks, _ := got["tasks"].([]any)
	if err != "" || len(tasks) != 2 || at(tasks[1], "id") != first || at(tasks[0], "id") != c.taskID {
		t.Fatalf("%s %v", err, got)
	}
	for _, e := range files(t, dir) {
		if info, err := e.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", e.Name(), info.Mode(), err)
		}
	}
}

func files(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestKeepTogether: of two concurrent processes, one holds the task.
func TestKeepTogether(t *testing.T) {
	dir, workspace := t.TempDir(), t.TempDir()
	a := keeping(t, keepIn(t, dir), workspace)
	a.prompt("edit")
	b := keeping(t, keepIn(t, dir), workspace)
	b.taskID, b.contextID, b.calls, b.offered = a.taskID, a.contextID, a.calls, a.offered
	if b.state() != stateInputRequired {
		t.Fatal(b.state())
	}
	late := a.answers("proceed_once")
	watch := a.open("tasks/resubscribe", map[string]any{"id": a.taskID})
	expect(t, "b", b.confirm("proceed_once"), "Edit EXECUTING", "Edit SUCCEEDED", `"I wrote "`, `"hello.txt"`, `".\n"`,
		ran(`write "Hello from the a2astdio demo agent.\n" to %q (proceed_once)`, filepath.Join(workspace, "hello.txt")), "completed (final)")
	watch.rest() // is cut: whoever follows looks again
	a.refused(a.message(a.taskID, late...), "no tool call of task", "awaits")
	if a.state() != stateCompleted {
		t.Error(a.state())
	}

	// Another process can read a running story's task, but neither follow, answer nor
	// cancel it.
	slow := keepIn(t, dir)
	slow.Pace = time.Hour
	a = keeping(t, slow, workspace)
	r := a.open("message/stream", a.message("", text("hello")))
	r.next()
	b.taskID, b.contextID = a.taskID, a.contextID
	if b.state() != stateWorking && b.state() != stateSubmitted {
		t.Error(b.state())
	}
	b.refused(b.message(b.taskID, text("hello")), "-32602", "under way in another a2astdio")
	for _, method := range []string{"tasks/cancel", "tasks/resubscribe"} {
		_, err := b.call(method, map[string]any{"id": b.taskID})
		expectError(t, err, "-32602")
	}
	// A task whose process has ended has failed.
	task := a.agent.task(a.taskID)
	task.mu.Lock()
	task.unlock() // as the system does for a process that is killed
	task.mu.Unlock()
	if b.state() != stateFailed {
		t.Error(b.state())
	}
	r.body.Close()
}

// TestKeepLimits: the number is bounded, and what is damaged is not there.
func TestKeepLimits(t *testing.T) {
	dir := t.TempDir()
	c := keeping(t, keepIn(t, dir), t.TempDir())
	for range maxKept + 5 {
		c.prompt("hello")
	}
	if n := len(c.agent.keeper.ids()); n != maxKept {
		t.Errorf("%d are kept", n)
	}
	if n := len(files(t, dir)); n > 2*maxKept {
		t.Errorf("%d files", n)
	}
	old := time.Now().Add(-2 * maxKeptAge)
	id := c.taskID
	litter := []string{filepath.Join(dir, tempPrefix+"1"), filepath.Join(dir, "gone"+lockSuffix)}
	for _, name := range litter {
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chtimes(name, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(dir, id+keptSuffix), old, old); err != nil {
		t.Fatal(err)
	}
	c.prompt("hello")
	if c.agent.keeper.read(id) != nil {
		t.Error("an old one is kept")
	}
	for _, name := range litter {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	c.prompt("edit")
	answers := c.answers("proceed_once")
	file := filepath.Join(dir, c.taskID+keptSuffix)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string]string{
		"cut":           string(raw[:len(raw)/2]),
		"other version": strings.Replace(string(raw), `"layout":1`, `"layout":9`, 1),
		"other task":    strings.Replace(string(raw), c.taskID, "x", 1),
	} {
		if err := os.WriteFile(file, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		c.next(keepIn(t, dir))
		if _, err := c.call("tasks/get", map[string]any{"id": c.taskID}); !strings.Contains(err, "-32001") {
			t.Errorf("%s: %s", name, err)
		}
	}
	// A story that would not reach its pause does nothing.
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(raw), `"text":"edit"`, `"text":"shell"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	c.next(keepIn(t, dir))
	c.refused(c.message(c.taskID, answers...), "terminal state: failed")
	if _, err := c.call("tasks/get", map[string]any{"id": "../" + c.taskID}); !strings.Contains(err, "-32001") {
		t.Error(err)
	}
}

// TestKeepNowhere: without a place an agent works, and reports it once.
func TestKeepNowhere(t *testing.T) {
	warned := 0
	opts := &Options{Pace: -1, Keep: func() (string, error) { return "", os.ErrPermission }, Warn: func(error) { warned++ }}
	c := keeping(t, opts, t.TempDir())
	c.prompt("edit")
	c.confirm("proceed_once")
	if c.state() != stateCompleted || warned != 1 {
		t.Error(c.state(), warned)
	}
}

// Package peers tests the a2astdio binary with other people's clients and agents, run
// unchanged. See README.md.
package peers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// patience bounds the wait for a line. It only ends if something is wrong.
	patience = 60 * time.Second
	// exitTime bounds the bridge's end after the end of its input. It takes less than a second,
	// which the bridge's own tests measure in virtual time; here a machine may be busy.
	exitTime = 10 * time.Second
)

// endOfInput marks the end of the bridge's input in a conversation's record.
const endOfInput = "(end of input)"

// A Line is one line of a conversation, as it was written.
type Line struct {
	FromEditor bool
	At         time.Time
	Raw        string
	Message    map[string]any // nil: not a JSON object
}

func (l *Line) get(path string) any { return at(l.Message, path) }

func (l *Line) text(path string) string { s, _ := l.get(path).(string); return s }

// update is the kind of a session/update, empty for any other line.
func (l *Line) update() string {
	if l.FromEditor || l.text("method") != "session/update" {
		return ""
	}
	return l.text("params.update.sessionUpdate")
}

// answers reports whether the line is the bridge's response to a request of
// the editor's.
func (l *Line) answers(id int) bool {
	if l.FromEditor || l.Message == nil || l.Message["method"] != nil {
		return false
	}
	return fmt.Sprint(l.Message["id"]) == fmt.Sprint(id)
}

// An Editor is a scripted ACP client of one process of the binary. It records every
// line in order, and checks at its end what must hold for every conversation: see
// check.go.
type Editor struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer // to be read after the process has ended
	ended  chan struct{}

	sending sync.Mutex // one line at a time

	mu      sync.Mutex
	changed chan struct{} // closed, and made anew, when the log grows
	log     []*Line
	lastID  int
	policy  Policy
	closed  bool
	buffers map[string]string // files that the editor has open, by path; nil: it serves none
}

// begin starts an ACP agent, which the caller ends.
func begin(t testing.TB, cmd *exec.Cmd) *Editor {
	t.Helper()
	e := &Editor{t: t, cmd: cmd, ended: make(chan struct{}), changed: make(chan struct{}), policy: Allow}
	e.cmd.Stderr = &e.stderr
	var stdout io.Reader
	e.stdin, stdout = startPiped(t, e.cmd)
	go e.read(stdout) // ends with the process
	return e
}

// startPiped starts a command, and returns its stdin and stdout.
func startPiped(t testing.TB, cmd *exec.Cmd) (io.WriteCloser, io.Reader) {
	t.Helper()
	stdin, stdout := mustGet(cmd.StdinPipe())(t), mustGet(cmd.StdoutPipe())(t)
	mustDo(t, cmd.Start())
	return stdin, stdout
}

// open starts the binary and initializes it.
func open(t testing.TB, args ...string) *Editor {
	t.Helper()
	return openAt(t, t.TempDir(), args...)
}

// openAt is open with a home directory.
func openAt(t testing.TB, home string, args ...string) *Editor {
	t.Helper()
	return openFiles(t, home, nil, args...)
}

// openFiles is openAt of an editor that has files open, and serves them. It has a small
// environment, and is in a directory that is no session's. It is closed, and checked, when the test
// ends.
func openFiles(t testing.TB, home string, buffers map[string]string, args ...string) *Editor {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + os.TempDir()}
	e := begin(t, cmd)
	t.Cleanup(e.Close)
	e.mu.Lock()
	e.buffers = buffers
	e.mu.Unlock()
	r := e.Call("initialize", map[string]any{"protocolVersion": 1, "clientInfo": map[string]any{"name": "peers", "version": "1"},
		"clientCapabilities": map[string]any{"fs": map[string]any{"readTextFile": buffers != nil, "writeTextFile": buffers != nil}}})
	if v := fmt.Sprint(r.get("result.protocolVersion")); v != "1" {
		t.Fatalf("initialize: protocolVersion is %s: %s", v, r.Raw)
	}
	return e
}

func (e *Editor) read(stdout io.Reader) {
	defer close(e.ended)
	r := bufio.NewReaderSize(stdout, 1<<20)
	for {
		raw, err := r.ReadString('\n')
		if raw != "" {
			switch line := e.record(false, raw); line.text("method") {
			case "session/request_permission":
				e.decide(line)
			case "fs/read_text_file", "fs/write_text_file":
				e.serve(line)
			}
		}
		if err != nil {
			return
		}
	}
}

// serve reads or writes a buffer.
func (e *Editor) serve(line *Line) {
	path := line.text("params.path")
	e.mu.Lock()
	content, ok := e.buffers[path]
	if line.text("method") == "fs/write_text_file" {
		e.buffers[path] = line.text("params.content")
	}
	e.mu.Unlock()
	answer := map[string]any{"id": line.get("id"), "result": map[string]any{"content": content}}
	if !ok {
		answer = map[string]any{"id": line.get("id"), "error": map[string]any{"code": -32002, "message": "no such file"}}
	}
	e.send(answer)
}

// Buffer is what the editor has of a file.
func (e *Editor) Buffer(path string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.buffers[path]
}

func (e *Editor) record(fromEditor bool, raw string) *Line {
	l := &Line{FromEditor: fromEditor, At: time.Now(), Raw: raw}
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if d.Decode(&l.Message) != nil {
		l.Message = nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log = append(e.log, l)
	close(e.changed)
	e.changed = make(chan struct{})
	return l
}

// send writes a line, after recording it: whatever it causes comes later.
func (e *Editor) send(message map[string]any) {
	message["jsonrpc"] = "2.0"
	raw, err := json.Marshal(message)
	if err != nil {
		e.t.Error(err)
		return
	}
	e.sending.Lock()
	defer e.sending.Unlock()
	e.record(true, string(raw)+"\n")
	if _, err := e.stdin.Write(append(raw, '\n')); err != nil {
		e.t.Errorf("writing %s: %v", raw, err)
	}
}

// Notify sends a notification.
func (e *Editor) Notify(method string, params map[string]any) {
	e.send(map[string]any{"method": method, "params": params})
}

// request sends a request, and returns its ID and its place in the log.
func (e *Editor) request(method string, params map[string]any) (id, from int) {
	e.mu.Lock()
	e.lastID++
	id, from = e.lastID, len(e.log)
	e.mu.Unlock()
	e.send(map[string]any{"id": id, "method": method, "params": params})
	return id, from
}

// Call sends a request and waits for the response.
func (e *Editor) Call(method string, params map[string]any) *Line {
	e.t.Helper()
	id, from := e.request(method, params)
	l, _ := e.wait(from, "the response to "+method, func(l *Line) bool { return l.answers(id) })
	return l
}

// wait returns the first line at or after a place in the log for which match
// holds, and its place, as soon as there is one.
func (e *Editor) wait(from int, what string, match func(*Line) bool) (*Line, int) {
	e.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	ended := false
	for {
		e.mu.Lock()
		log, changed := e.log, e.changed
		e.mu.Unlock()
		for ; from < len(log); from++ {
			if match(log[from]) {
				return log[from], from
			}
		}
		if ended {
			e.t.Fatalf("the bridge ended before %s", what)
		}
		select {
		case <-changed:
		case <-e.ended:
			ended = true // look once more
		case <-timer.C:
			e.t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

func (e *Editor) lines() []*Line {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.log
}

// NewSession opens a session in a directory, with MCP servers.
func (e *Editor) NewSession(cwd string, servers ...any) string {
	e.t.Helper()
	r := e.Call("session/new", map[string]any{"cwd": cwd, "mcpServers": append([]any{}, servers...)})
	id := r.text("result.sessionId")
	if id == "" {
		e.t.Fatalf("session/new: %s", r.Raw)
	}
	return id
}

// Cancel sends session/cancel.
func (e *Editor) Cancel(session string) {
	e.Notify("session/cancel", map[string]any{"sessionId": session})
}

// Kill kills the bridge. The conversation is not checked.
func (e *Editor) Kill() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	_ = e.cmd.Process.Kill()
	<-e.ended
	_ = e.cmd.Wait()
}

// Close ends the bridge's input, like an editor that quits, and checks how the bridge
// ended and what it wrote. A second call does nothing.
func (e *Editor) Close() {
	e.mu.Lock()
	closed := e.closed
	e.closed = true
	e.mu.Unlock()
	if closed {
		return
	}
	e.sending.Lock()
	e.record(true, `{"method":"`+endOfInput+`"}`)
	began := time.Now()
	e.stdin.Close()
	e.sending.Unlock()
	kill := time.AfterFunc(10*exitTime, func() { _ = e.cmd.Process.Kill() })
	defer kill.Stop()
	<-e.ended // the end of stdout: Wait may be called after it
	err := e.cmd.Wait()
	if took := time.Since(began); took > exitTime {
		e.t.Errorf("the bridge ended %v after its input, %v is the limit", took.Round(time.Millisecond), exitTime)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		e.t.Errorf("the bridge's exit status: %v", exit)
	} else if err != nil {
		e.t.Errorf("the bridge: %v", err)
	}
	if e.stderr.Len() > 0 {
		e.t.Errorf("stderr should be empty, Emacs shows every byte of it as an error: %q", e.stderr.String())
	}
	for _, problem := range check(e.log) {
		e.t.Error(problem)
	}
	if e.t.Failed() {
		e.t.Logf("the conversation:\n%s", transcript(e.log))
	}
}

// transcript shows a conversation for a failed test, without the middle of long
// ones and of long lines.
func transcript(log []*Line) string {
	const head, tail, width = 40, 60, 600
	var b strings.Builder
	for i, l := range log {
		if i == head && len(log) > head+tail {
			fmt.Fprintf(&b, "   … %d lines …\n", len(log)-head-tail)
		}
		if i >= head && i < len(log)-tail {
			continue
		}
		arrow, raw := "←", strings.TrimSuffix(l.Raw, "\n")
		if l.FromEditor {
			arrow = "→"
		}
		if len(raw) > width {
			raw = raw[:width] + fmt.Sprintf("… (%d bytes)", len(raw))
		}
		fmt.Fprintf(&b, "%7.3f %s %s\n", l.At.Sub(log[0].At).Seconds(), arrow, raw)
	}
	return b.String()
}

// at looks up a member of nested JSON objects and arrays: "a.0.b".
func at(v any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			v = node[key]
		case []any:
			var i int
			if n, err := fmt.Sscan(key, &i); n != 1 || err != nil || i >= len(node) {
				return nil
			}
			v = node[i]
		default:
			return nil
		}
	}
	return v
}

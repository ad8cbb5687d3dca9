package soak

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// exitTime bounds the bridge's end after the end of its input.
const exitTime = time.Second

// errEnded is for an editor that waits for an ended bridge.
var errEnded = errors.New("the bridge has ended")

// An editor is a scripted ACP client of one process. It has a screen for each session,
// and answers questions itself.
type editor struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer // to be read after the process has ended
	ended  chan struct{}

	writing sync.Mutex

	mu      sync.Mutex
	lastID  int
	waiting map[int]chan gjson.Result
	screens map[string]*screen
	lines   int            // from the bridge
	after   map[int]func() // what to do after this many lines
	wrong   []string       // what no editor should get
	changed chan struct{}  // closed, and made anew, with every line
}

// A screen is what the user of a session sees.
type screen struct {
	text     string // of the agent's messages
	user     string // the user's own words, in a loaded session
	thoughts []string
	calls    map[string]string // by ID: the last status
	asked    map[string]int    // by call: how often the user was asked
	notices  []string          // in brackets: the bridge's own messages
	answer   string            // the user's option
	busy     bool              // something may be shown
}

// start runs the program with an editor's environment, and kills it at the end of the
// test if it still runs.
func start(t testing.TB, env []string, args ...string) *editor {
	t.Helper()
	e := &editor{cmd: exec.Command(os.Args[0], args...), ended: make(chan struct{}), waiting: map[int]chan gjson.Result{},
		screens: map[string]*screen{}, after: map[int]func(){}, changed: make(chan struct{})}
	// With -race a program by default waits a second at its end.
	e.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GORACE=atexit_sleep_ms=0"}, env...)
	e.cmd.Stderr = &e.stderr
	var err error
	if e.stdin, err = e.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go e.read(stdout) // ends with the process
	t.Cleanup(func() {
		_ = e.cmd.Process.Kill()
		<-e.ended
		_ = e.cmd.Wait()
	})
	return e
}

// then calls do after this many lines from the bridge, in a goroutine of its own.
func (e *editor) then(lines int, do func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if lines <= e.lines {
		go do()
		return
	}
	e.after[lines] = do
}

func (e *editor) read(stdout io.Reader) {
	defer close(e.ended)
	for r := bufio.NewReaderSize(stdout, 1<<20); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return // half a line: the process was killed
		}
		e.take(line)
	}
}

func (e *editor) take(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines++
	if do := e.after[e.lines]; do != nil {
		go do() // ends with what it does
	}
	close(e.changed)
	e.changed = make(chan struct{})
	m := gjson.Parse(line)
	s, update := e.screens[m.Get("params.sessionId").Str], m.Get("params.update")
	switch method := m.Get("method").Str; {
	case !gjson.Valid(line) || m.Get("jsonrpc").Str != "2.0":
		e.bad("a line that is no JSON-RPC: %s", line)
	case method == "":
		id := int(m.Get("id").Int())
		reply := e.waiting[id]
		if reply == nil {
			e.bad("a reply to nothing, or a second one: %s", line)
			return
		}
		delete(e.waiting, id)
		reply <- m // it has room for one
	case method == "session/update" && slices.Contains(betweenTurns, update.Get("sessionUpdate").Str):
	case s == nil:
		e.bad("a session that was not opened: %s", line)
	case method == "session/update":
		e.update(s, update, line)
	case method == "session/request_permission":
		if !s.busy {
			e.bad("a question while nothing runs: %s", line)
		}
		s.asked[m.Get("params.toolCall.toolCallId").Str]++
		// In a goroutine of its own, because we may block the bridge.
		go e.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, m.Get("id").Raw, s.answer))
	default:
		e.bad("a method that was not offered: %s", line)
	}
}

// betweenTurns are the updates that need no prompt.
var betweenTurns = []string{"available_commands_update", "session_info_update", "current_mode_update"}

func (e *editor) update(s *screen, u gjson.Result, line string) {
	text := u.Get("content.text").Str
	switch u.Get("sessionUpdate").Str {
	case "agent_message_chunk":
		switch {
		case strings.HasPrefix(text, "\n[The connection to the agent is lost."): // which it was, and is again
		case strings.HasPrefix(strings.TrimSpace(text), "["):
			s.notices = append(s.notices, text)
		default:
			s.text += text
		}
	case "user_message_chunk":
		s.user += text
	case "agent_thought_chunk":
		s.thoughts = append(s.thoughts, text)
	case "tool_call":
		if s.calls[u.Get("toolCallId").Str] != "" {
			e.bad("a call that is announced a second time: %s", line)
		}
		s.calls[u.Get("toolCallId").Str] = u.Get("status").Str
	case "tool_call_update":
		if status := u.Get("status").Str; status != "" {
			s.calls[u.Get("toolCallId").Str] = status
		}
	}
	if !s.busy {
		e.bad("an update while nothing runs: %s", line)
	}
}

// bad notes what no editor should get; the caller holds mu.
func (e *editor) bad(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	e.wrong = append(e.wrong, strings.TrimSpace(text[:min(len(text), 600)]))
}

// write writes a line. An error shows as the end of the process.
func (e *editor) write(line string) {
	e.writing.Lock()
	defer e.writing.Unlock()
	_, _ = io.WriteString(e.stdin, line+"\n")
}

func (e *editor) send(method string, params any) chan gjson.Result {
	e.mu.Lock()
	e.lastID++
	id, reply := e.lastID, make(chan gjson.Result, 1)
	e.waiting[id] = reply
	e.mu.Unlock()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		panic(err) // of our own maps
	}
	e.write(string(line))
	return reply
}

// call sends a request and waits for the reply. The error means that there is none.
func (e *editor) call(method string, params any) (gjson.Result, error) {
	reply := e.send(method, params)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case m := <-reply:
		return m, nil
	case <-e.ended:
	case <-timer.C:
		return gjson.Result{}, fmt.Errorf("waited %v for the reply to %s", patience, method)
	}
	select {
	case m := <-reply: // it came with the end
		return m, nil
	default:
		return gjson.Result{}, errEnded
	}
}

func (e *editor) initialize() error {
	m, err := e.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
	if err == nil && m.Get("result.protocolVersion").Int() != 1 {
		err = fmt.Errorf("initialize: %s", m.Raw)
	}
	return err
}

// open opens a session in a directory.
func (e *editor) open(cwd string) (id string, err error) {
	m, err := e.call("session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}})
	if err != nil {
		return "", err
	}
	if id = m.Get("result.sessionId").Str; id == "" {
		return "", fmt.Errorf("session/new: %s", m.Raw)
	}
	e.screen(id)
	return id, nil
}

// screen makes a screen for a session, an empty one.
func (e *editor) screen(session string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.screens[session] = &screen{calls: map[string]string{}, asked: map[string]int{}, answer: "proceed_once"}
}

// see looks at a session's screen.
func (e *editor) see(session string, look func(*screen)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	look(e.screens[session])
}

// prompt clears the screen, sends a prompt, and waits for its end.
func (e *editor) prompt(session, text, answer string) (gjson.Result, error) {
	e.screen(session)
	e.see(session, func(s *screen) { s.answer, s.busy = answer, true })
	m, err := e.call("session/prompt", map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}})
	e.see(session, func(s *screen) { s.busy = false })
	return m, err
}

// until waits until a session's screen is as expected, and reports whether that
// happened.
func (e *editor) until(session string, limit time.Duration, ok func(*screen) bool) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		e.mu.Lock()
		done, changed := ok(e.screens[session]), e.changed
		e.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-e.ended:
			return false
		case <-timer.C:
			return false
		}
	}
}

// count is how many lines the bridge has written.
func (e *editor) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lines
}

// problems are the faults so far.
func (e *editor) problems() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.wrong
}

// quit ends the bridge's input, and reports a wrong end.
func (e *editor) quit() error {
	began := time.Now()
	e.writing.Lock()
	e.stdin.Close()
	e.writing.Unlock()
	kill := time.AfterFunc(10*exitTime, func() { _ = e.cmd.Process.Kill() })
	defer kill.Stop()
	<-e.ended
	if err := e.cmd.Wait(); err != nil {
		return fmt.Errorf("the bridge: %w: %s", err, e.stderr.String())
	}
	if took := time.Since(began); took > exitTime {
		return fmt.Errorf("the bridge ended %v after its input, %v is the limit", took.Round(time.Millisecond), exitTime)
	}
	if e.stderr.Len() > 0 {
		return fmt.Errorf("the bridge writes on stderr: %s", e.stderr.String())
	}
	return nil
}

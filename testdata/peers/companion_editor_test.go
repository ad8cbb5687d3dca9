package peers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A companionEditor is a scripted editor that runs a2astdio companion. It shows every
// diff. The file's name decides the rest: it accepts "accept" with a further line,
// rejects "reject", cannot show "fail" and cannot close "stuck". All other diffs wait
// until the test decides, or the CLI closes them.
type companionEditor struct {
	t       testing.TB
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stderr  bytes.Buffer // to be read after the process has ended
	ended   chan struct{}
	started startedParams
	opened  chan diffParams // waiting diffs
	closed  chan diffParams // diffs that the CLI has closed

	mu    sync.Mutex // one line at a time, and the diffs
	diffs map[string]diffParams
}

type startedParams struct {
	Port      int
	AuthToken string
	Env       map[string]string
	Companion struct{ PID int } // in the discovery file
}

type diffParams struct{ DiffID, FilePath, NewContent string }

func (s *startedParams) url() string { return fmt.Sprintf("http://127.0.0.1:%d/mcp", s.Port) }

// companionPlaces are the directories that a companion and its CLIs share.
type companionPlaces struct{ tmp, home, workspace string }

// env is a small environment, for the companion and the CLIs.
func (p *companionPlaces) env(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "TMPDIR=" + p.tmp, "LANG=C.UTF-8"}, more...)
}

// discovery are the existing discovery files, Gemini's and Qwen Code's.
func (p *companionPlaces) discovery(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{filepath.Join(p.tmp, "gemini", "ide", "*"), filepath.Join(p.home, ".qwen", "ide", "*")} {
		found := mustGet(filepath.Glob(pattern))(t)
		all = append(all, found...)
	}
	return all
}

// openCompanion starts a companion, which ends with the test.
func openCompanion(t testing.TB, p *companionPlaces, args ...string) *companionEditor {
	t.Helper()
	e := &companionEditor{t: t, cmd: exec.Command(binary, append([]string{"companion", "--name", "Test Editor", "--workspace", p.workspace}, args...)...),
		ended: make(chan struct{}), opened: make(chan diffParams, 100), closed: make(chan diffParams, 100), diffs: map[string]diffParams{}}
	e.cmd.Env = p.env()
	e.cmd.Stderr = &e.stderr
	var stdout io.Reader
	e.stdin, stdout = startPiped(t, e.cmd)
	lines := bufio.NewReaderSize(stdout, 1<<20)
	var first struct {
		Method string
		Params startedParams
	}
	line, err := lines.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &first) != nil || first.Method != "companion/started" {
		t.Fatalf("the first line is %q (%v): %s", line, err, &e.stderr)
	}
	e.started = first.Params
	go e.read(lines) // ends with the process, which close ends
	t.Cleanup(e.close)
	return e
}

// close ends the companion, which must leave no file and print nothing.
func (e *companionEditor) close() {
	e.stdin.Close()
	select {
	case <-e.ended:
	case <-time.After(patience):
		e.t.Error("the companion does not end with its input")
		_ = e.cmd.Process.Kill()
		<-e.ended
	}
	if err := e.cmd.Wait(); err != nil && !strings.Contains(err.Error(), "already called") && !strings.Contains(err.Error(), "killed") {
		e.t.Errorf("the companion: %v", err)
	}
	if e.stderr.Len() > 0 {
		e.t.Errorf("the companion's stderr: %s", &e.stderr)
	}
}

func (e *companionEditor) send(message map[string]any) {
	message["jsonrpc"] = "2.0"
	var b bytes.Buffer
	encoder := json.NewEncoder(&b) // ends with a newline
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		e.t.Error(err)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.stdin.Write(b.Bytes()) // it may have been killed
}

func (e *companionEditor) notify(method string, params any) {
	e.send(map[string]any{"method": method, "params": params})
}

// read answers what the companion asks.
func (e *companionEditor) read(lines *bufio.Reader) {
	defer close(e.ended)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params diffParams
		}
		if err := json.Unmarshal(line, &m); err != nil {
			e.t.Errorf("stdout has %.300q: %v", line, err)
			continue
		}
		name, d := filepath.Base(m.Params.FilePath), m.Params
		fail := map[string]any{"id": m.ID, "error": map[string]any{"code": -32603, "message": "the editor cannot do that"}}
		switch {
		case m.Method == "ide/openDiff" && name == "fail", m.Method == "ide/closeDiff" && name == "stuck":
			e.send(fail)
		case m.Method == "ide/openDiff":
			e.mu.Lock()
			e.diffs[d.DiffID] = d
			e.mu.Unlock()
			var result any = map[string]any{}
			if name == "reject" {
				result = true // any answer but an error says that the diff is shown
			}
			e.send(map[string]any{"id": m.ID, "result": result})
			switch name {
			case "accept":
				e.accept(d, d.NewContent+"edited\n")
			case "reject":
				e.reject(d)
			default:
				e.opened <- d
			}
		case m.Method == "ide/closeDiff":
			e.mu.Lock()
			was := e.diffs[d.DiffID]
			delete(e.diffs, d.DiffID)
			e.mu.Unlock()
			e.send(map[string]any{"id": m.ID, "result": map[string]any{"content": was.NewContent + "left\n"}})
			e.closed <- was
		case m.Method == "companion/started":
		default:
			e.t.Errorf("the companion said %.300q", line)
		}
	}
}

func (e *companionEditor) accept(d diffParams, content string) {
	e.notify("ide/diffAccepted", map[string]any{"diffId": d.DiffID, "filePath": d.FilePath, "content": content})
}

func (e *companionEditor) reject(d diffParams) {
	e.notify("ide/diffRejected", map[string]any{"diffId": d.DiffID, "filePath": d.FilePath})
}

// show reports the active file with its selection, and other open files.
func (e *companionEditor) show(file, selected string, others ...string) {
	files := []any{map[string]any{
		"path": file, "timestamp": 1763769600123, "isActive": true, "cursor": map[string]any{"line": 2, "character": 3}, "selectedText": selected}}
	for _, other := range others {
		files = append(files, map[string]any{"path": other, "timestamp": 1})
	}
	e.notify("ide/contextUpdate", map[string]any{"workspaceState": map[string]any{"openFiles": files}})
}

func wantDiff(t testing.TB, what string, diffs <-chan diffParams) diffParams {
	t.Helper()
	select {
	case d := <-diffs:
		return d
	case <-time.After(patience):
		t.Fatalf("no diff was %s", what)
		return diffParams{}
	}
}

package peers

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// editorVariable holds the arguments of TestEditorProcess.
const editorVariable = "A2ASTDIO_TEST_EDITOR"

// TestEditorProcess is an editor that can be killed: it starts the variable's command
// with its own stdout, and waits. It is no test.
func TestEditorProcess(t *testing.T) {
	args := os.Getenv(editorVariable)
	if args == "" {
		return
	}
	cmd := exec.Command(binary, strings.Split(args, "\n")...)
	cmd.Stdout = os.Stdout
	stdin := mustGet(cmd.StdinPipe())(t)
	mustDo(t, cmd.Start())
	_, _ = io.Copy(stdin, os.Stdin) // until it is killed
}

// A killed editor takes the companion and its files with it.
func TestCompanionEditorKilled(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	editor := exec.Command(os.Args[0], "-test.run=^TestEditorProcess$")
	editor.Env = p.env("A2ASTDIO_BINARY="+binary, editorVariable+"="+strings.Join([]string{"companion", "--workspace", p.workspace}, "\n"))
	stdin, stdout := startPiped(t, editor)
	defer stdin.Close()
	cli := connectMCP(t, find(t, p))
	lines := bufio.NewReader(stdout)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "companion/started") {
		t.Fatalf("%v %s", err, line)
	}
	name := fmt.Sprintf("gemini-ide-server-%d-", editor.Process.Pid)
	if files := p.discovery(t); len(files) != 2 || !strings.Contains(files[0], name) {
		t.Errorf("the files are %q, want one of the editor's PID: %s", files, name)
	}
	mustDo(t, editor.Process.Kill())
	// It shares its stdout with the companion: the end of it is the end of both.
	done := make(chan struct{})
	go func() { // ends with the companion
		defer close(done)
		_, _ = io.Copy(io.Discard, lines)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("the editor is gone, and the companion is not")
	}
	if files := p.discovery(t); len(files) > 0 {
		t.Errorf("the editor is gone, and there is %q", files)
	}
	for range cli.notification { // until the stream ends, which it must
	}
	_ = editor.Wait()
}

// A killed companion leaves files. The next one removes them, so that a CLI finds the
// right one.
func TestCompanionKilled(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	first := openCompanion(t, p)
	cli := connectMCP(t, first.started)
	mustDo(t, first.cmd.Process.Kill())
	<-first.ended
	for range cli.notification { // until the stream ends, which it must
	}
	if files := p.discovery(t); len(files) != 2 {
		t.Fatalf("the test needs files that stay, and there is %q", files)
	}
	second := openCompanion(t, p)
	if files := p.discovery(t); len(files) != 2 {
		t.Errorf("the files are %q", files)
	}
	if found := find(t, p); found.Port != second.started.Port {
		t.Errorf("a CLI finds port %d, and the companion is at %d", found.Port, second.started.Port)
	}
	connectMCP(t, find(t, p))
}

// A killed CLI leaves nothing: its diffs are closed, and another CLI is served
// meanwhile. (companion_gemini_test.go kills a real one.)
func TestCompanionCLIKilled(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	e := openCompanion(t, p)
	killed, other := connectMCP(t, e.started), connectMCP(t, e.started)
	file := p.workspace + "/wait"
	killed.tool("openDiff", map[string]string{"filePath": file, "newContent": "x"})
	wantDiff(t, "opened", e.opened)
	killed.hang()
	killed.transport.CloseIdleConnections()
	other.tool("openDiff", map[string]string{"filePath": p.workspace + "/accept", "newContent": "x\n"})
	if d := other.decision("ide/diffAccepted"); *d.Params.Content != "x\nedited\n" {
		t.Errorf("accepted: %+v", d.Params)
	}
	if d := wantDiff(t, "closed", e.closed); d.FilePath != file {
		t.Errorf("closed: %+v", d)
	}
}

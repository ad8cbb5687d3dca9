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

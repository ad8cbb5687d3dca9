package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/serve"
)

// startCompanion runs a2astdio companion in this process until the test ends, and
// returns the environment from its first line.
func startCompanion(t *testing.T, args ...string) map[string]string {
	t.Helper()
	in, editor := io.Pipe()
	lines, out := io.Pipe()
	done := make(chan int, 1)
	go func() { // ends with its input
		done <- Main(t.Context(), append([]string{"a2astdio", "companion"}, args...), in, out, io.Discard, "v0")
		out.Close()
	}()
	reader := bufio.NewReader(lines)
	line, err := reader.ReadBytes('\n')
	var m struct {
		Method string
		Params struct{ Env map[string]string }
	}
	if err != nil || json.Unmarshal(line, &m) != nil || m.Method != "companion/started" {
		t.Fatalf("%v %s", err, line)
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }() // ends with a2astdio
	t.Cleanup(func() {
		editor.Close()
		select {
		case status := <-done:
			if status != frame.ExitOK {
				t.Errorf("the companion ended with %d", status)
			}
		case <-time.After(10 * time.Second):
			t.Error("the companion does not end with its input")
		}
	})
	return m.Params.Env
}

// companionPlaces gives the test its own discovery directories.
func companionPlaces(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP", "QWEN_HOME"} {
		t.Setenv(name, dir)
	}
}

// TestCompanionEnv: a shell that evaluates the output of companion env has the editor's
// environment, whatever directories are called.
func TestCompanionEnv(t *testing.T) {
	companionPlaces(t)
	name := `it's "a" $(dir) \ ` + "`x`"
	if runtime.GOOS == "windows" {
		name = "it's a $(dir)"
	}
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	startCompanion(t, "--workspace", dir)
	run := func(args ...string) (string, string, int) {
		var stdout, stderr strings.Builder
		status := Main(t.Context(), append([]string{"a2astdio", "companion", "env"}, args...), strings.NewReader(""), &stdout, &stderr, "v0")
		return stdout.String(), stderr.String(), status
	}
	t.Chdir(filepath.Dir(dir))
	if _, stderr, status := run(); status != frame.ExitFailed || !strings.Contains(stderr, "none with a companion") {
		t.Errorf("outside of the workspace: %d %s", status, stderr)
	}
	t.Chdir(filepath.Join(dir, "sub"))
	for shell, command := range map[string]string{
		serve.ShellPosix:      `sh -c 'eval "$1"; printf %s "$GEMINI_CLI_IDE_WORKSPACE_PATH"' sh`,
		serve.ShellFish:       `fish -c 'echo $argv[1] | source; printf %s "$GEMINI_CLI_IDE_WORKSPACE_PATH"'`,
		serve.ShellPowerShell: `pwsh -Command 'param($s) Invoke-Expression $s; [Console]::Out.Write($env:GEMINI_CLI_IDE_WORKSPACE_PATH)' -args`,
	} {
		stdout, stderr, status := run("--shell", shell)
		if status != frame.ExitOK || stderr != "" {
			t.Errorf("%s: %d %s", shell, status, stderr)
			continue
		}
		program, rest, _ := strings.Cut(command, " ")
		path, err := exec.LookPath(program)
		if err != nil {
			t.Logf("%s is not here", program)
			continue
		}
		words := strings.SplitN(rest, "'", 3)
		args := append(strings.Fields(words[0]), words[1])
		cmd := exec.CommandContext(t.Context(), path, append(append(args, strings.Fields(words[2])...), stdout)...)
		if got, err := cmd.CombinedOutput(); err != nil || string(got) != dir {
			t.Errorf("%s: %v %q, want %q", shell, err, got, dir)
		}
	}

	// With a second window one is taken, with a note.
	startCompanion(t, "--workspace", dir, "--name", "Second")
	if _, stderr, status := run(); status != frame.ExitOK || !strings.Contains(stderr, "several editors") {
		t.Errorf("two windows: %d %s", status, stderr)
	}
}

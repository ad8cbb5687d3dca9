package peers

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run builds the binary once, unless A2ASTDIO_BINARY names one.
func run(m *testing.M) int {
	defer func() {
		if geminiServer.close != nil {
			geminiServer.close()
		}
	}()
	if binary = os.Getenv("A2ASTDIO_BINARY"); binary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "a2astdio-peers-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "a2astdio")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = filepath.Join("..", "..") // another module, which this one cannot name by its path
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the program under test:", err)
		return 1
	}
	return m.Run()
}

// programFolder is a folder for PATH, with the program.
func programFolder(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	if err := os.Symlink(binary, filepath.Join(bin, "a2astdio")); err != nil {
		t.Fatal(err)
	}
	return bin
}

// listen serves the demo agent over TCP until the test ends, and returns its URL. Its secret,
// if the options want one, is "right".
func listen(t *testing.T, options ...string) string {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"demo", "--listen", "127.0.0.1:0"}, options...)...)
	cmd.Env = append(os.Environ(), "A2ASTDIO_DEMO_SECRET=right")
	return serving(t, cmd)
}

// serving starts a command of a2astdio's that serves until the test ends, and returns its URL.
func serving(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return strings.TrimSpace(line)
}

// write writes a file, and makes its folder.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// within waits until something is so.
func within(t testing.TB, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !so(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// wantFile demands a file with a content.
func wantFile(t *testing.T, content string, path ...string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Errorf("the agent should have written it: %v", err)
	} else if string(got) != content {
		t.Errorf("%s holds %q, want %q", filepath.Join(path...), got, content)
	}
}

// wantNoFile demands that there is none.
func wantNoFile(t *testing.T, path ...string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(path...)); err == nil {
		t.Errorf("%s exists: nobody has allowed that", filepath.Join(path...))
	}
}

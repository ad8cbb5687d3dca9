package peers

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// binary is the program under test; programs is where it and others are built.
var binary, programs string

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run builds the binary once, unless A2ASTDIO_BINARY names one.
func run(m *testing.M) int {
	defer func() {
		if geminiServer.end != nil {
			geminiServer.end()
		}
	}()
	var err error
	if programs, err = os.MkdirTemp("", "a2astdio-peers-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(programs)
	if binary = os.Getenv("A2ASTDIO_BINARY"); binary != "" {
		return m.Run()
	}
	binary = filepath.Join(programs, "a2astdio")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = filepath.Join("..", "..") // another module, which this one cannot name by its path
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the program under test:", err)
		return 1
	}
	return m.Run()
}

// mustDo ends the test at an error of something that it needs and does not test.
func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustGet returns the value of a call that may fail: mustGet(os.ReadFile(name))(t).
func mustGet[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		mustDo(t, err)
		return value
	}
}

// equal compares a value with what is right. about says which of several it is.
func equal[T any](t testing.TB, got, want T, about ...any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v %v", got, want, about)
	}
}

// programFolder is a folder for PATH, with the program.
func programFolder(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	mustDo(t, os.Symlink(binary, filepath.Join(bin, "a2astdio")))
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

// serving starts a command that prints its URL and serves until the test ends, and returns the URL.
func serving(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer // to be read after the process has ended
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	_, stdout := startPiped(t, cmd) // some end with their input
	end := func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	late.Stop()
	if !strings.HasPrefix(line, "http://") {
		end()
		t.Fatalf("%v did not start: %s%s", cmd.Args, line, stderr.String())
	}
	t.Cleanup(func() {
		end()
		if t.Failed() && stderr.Len() > 0 {
			t.Logf("the server: %s", stderr.String())
		}
	})
	return strings.TrimSpace(line)
}

// write writes a file, and makes its folder.
func write(t *testing.T, path, content string) {
	t.Helper()
	mustDo(t, os.MkdirAll(filepath.Dir(path), 0o700))
	mustDo(t, os.WriteFile(path, []byte(content), 0o600))
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

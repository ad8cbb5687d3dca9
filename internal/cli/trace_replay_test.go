package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
)

// background runs a command that serves, until the test ends; it returns the URL
// that it writes, and what it says on stderr, which is complete when stop returns.
func background(t *testing.T, args ...string) (url string, stop func() (status int, stderr string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, stdout := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() { // ends with ctx
		status := Main(ctx, append([]string{"a2astdio"}, args...), strings.NewReader(""), stdout, &stderr, "v0.0.0-test")
		stdout.Close()
		ended <- status
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: status %d, %s", args, <-ended, stderr.String())
	}
	go io.Copy(io.Discard, out) // ends with the command
	var once sync.Once
	status := 0
	stop = func() (int, string) {
		once.Do(func() {
			cancel()
			status = <-ended
		})
		return status, stderr.String()
	}
	t.Cleanup(func() { stop() })
	return strings.TrimSpace(line), stop
}

// TestReplayCommand: a trace is served as an agent.
func TestReplayCommand(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "t.jsonl")
	if status, out, stderr := runMain("", "--agent", "demo", "--trace", trace, "send", "hello"); status != 0 || out == "" {
		t.Fatalf("status %d, %s%s", status, out, stderr)
	}
	url, stop := background(t, "trace", "replay", "--speed", "max", trace)
	for range 2 {
		if status, out, stderr := runMain("", "--agent", url, "send", "hello"); status != 0 || out != "Hello from the a2astdio demo agent.\n" || stderr != "" {
			t.Errorf("status %d, %s%s", status, out, stderr)
		}
	}
	if status, _, stderr := runMain("", "--agent", url, "send", "good bye"); status != frame.ExitFailed || !strings.Contains(stderr, "nothing more of that kind was recorded") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if status, stderr := stop(); status != frame.ExitInterrupted && status != 0 || !strings.Contains(stderr, "nothing more of that kind") {
		t.Errorf("status %d, %s", status, stderr)
	}
	for _, misuse := range [][]string{{"--speed", "fast", trace}, {}} {
		if status, _, _ := runMain("", append([]string{"trace", "replay"}, misuse...)...); status != frame.ExitUsage {
			t.Errorf("%v: status %d", misuse, status)
		}
	}
}

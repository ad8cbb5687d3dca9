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

// TestReplayACP: a bridge that plays with the editor of a trace can do what the one that
// was recorded could, and leaves nothing among the user's sessions.
func TestReplayACP(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("LocalAppData", state)
	trace := filepath.Join(t.TempDir(), "t.jsonl")
	lines := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}` + "\n"
	if status, out, stderr := runMain(lines, "--agent", "demo", "--trace", trace); status != 0 || !strings.Contains(out, `"loadSession":true`) {
		t.Fatalf("status %d, %s%s", status, out, stderr)
	}
	if status, out, stderr := runMain("", "--agent", "demo", "trace", "replay", "--editor", trace); status != 0 || !strings.HasPrefix(out, "no difference: ") {
		t.Errorf("status %d, %s%s", status, out, stderr)
	}
	if left, _ := filepath.Glob(filepath.Join(state, "a2astdio", "sessions", "*")); len(left) > 0 {
		t.Errorf("it has stored %v", left)
	}
}

// TestReplayCommand: a trace is served as an agent, and its editor is played against
// a bridge to that, in this process and in another one.
func TestReplayCommand(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "t.jsonl")
	lines := `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"text":"hello"}}` + "\n"
	if status, out, stderr := runMain(lines, "--agent", "demo", "--trace", trace); status != 0 || !strings.Contains(out, `"state":"completed"`) {
		t.Fatalf("status %d, %s%s", status, out, stderr)
	}
	url, stop := background(t, "trace", "replay", "--speed", "max", trace)
	for range 2 {
		status, out, stderr := runMain("", "--agent", url, "trace", "replay", "--editor", trace)
		if status != 0 || !strings.HasPrefix(out, "no difference: ") || stderr != "" {
			t.Errorf("status %d, %s%s", status, out, stderr)
		}
	}
	if status, out, _ := runMain("", "trace", "replay", "--editor", trace, "--", "sh", "-c", `read line; echo "$line"`); status != frame.ExitFailed || !strings.Contains(out, "record ") {
		t.Errorf("against an echo: status %d, %s", status, out)
	}
	if status, _, _ := runMain("", "--agent", url, "send", "hello"); status != 0 {
		t.Errorf("status %d", status)
	}
	if status, _, stderr := runMain("", "--agent", url, "send", "good bye"); status != frame.ExitFailed || !strings.Contains(stderr, "nothing more of that kind was recorded") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if status, stderr := stop(); status != frame.ExitInterrupted && status != 0 || !strings.Contains(stderr, "nothing more of that kind") {
		t.Errorf("status %d, %s", status, stderr)
	}

	url, _ = background(t, "trace", "replay", "--fault", "status=418*0@SendStreamingMessage", trace)
	if status, out, stderr := runMain("", "--agent", url, "trace", "replay", "--editor", trace); status != frame.ExitFailed || !strings.Contains(out, "recorded: ") {
		t.Errorf("status %d, %s%s", status, out, stderr)
	}
	for _, misuse := range [][]string{{"--speed", "fast", trace}, {"--fault", "fire", trace}, {}, {"--editor", trace, "--"}, {"--editor"}} {
		if status, _, _ := runMain("", append([]string{"trace", "replay"}, misuse...)...); status != frame.ExitUsage {
			t.Errorf("%v: status %d", misuse, status)
		}
	}
}

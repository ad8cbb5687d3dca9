package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
)

// TestProxyCommand: a client talks to an agent through the proxy, which records it,
// adds credentials only if asked to, and applies faults.
func TestProxyCommand(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "t.jsonl")
	url, stop := background(t, "--agent", "demo", "--header", "X-Secret: hunter2", "proxy", "--trace", trace)
	for _, args := range [][]string{{"send", "hello"}, {"--a2a-version", "0.3", "send", "hello"}} {
		if status, out, stderr := runMain("", append([]string{"--agent", url}, args...)...); status != 0 || !strings.Contains(out, "Hello") || stderr != "" {
			t.Errorf("%v: status %d, %s%s", args, status, out, stderr)
		}
	}
	if _, stderr := stop(); stderr != "" {
		t.Errorf("stderr: %s", stderr)
	}
	b, err := os.ReadFile(trace)
	if err != nil || strings.Contains(string(b), "X-Secret") || !strings.Contains(string(b), `"mode":"proxy"`) || strings.Count(string(b), `"kind":"stop"`) != 1 || strings.Contains(string(b), `"reason":"cut"`) {
		t.Errorf("%v: %s", err, b)
	}
	if status, out, _ := runMain("", "trace", "show", "--method", "SendStreamingMessage", trace); status != 0 || !strings.Contains(out, "B──▶A SendStreamingMessage") {
		t.Errorf("status %d, %s", status, out)
	}
	url, _ = background(t, "--agent", "demo", "--header", "X-Secret: hunter2", "proxy", "--trace", trace, "--with-credentials", "--fault", "status=503@SendStreamingMessage")
	if status, _, stderr := runMain("", "--agent", url, "send", "hello"); status != frame.ExitFailed || !strings.Contains(stderr, "503") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if status, out, stderr := runMain("", "--agent", url, "send", "hello"); status != 0 || !strings.Contains(out, "Hello") {
		t.Errorf("status %d, %s%s", status, out, stderr)
	}
	for want, args := range map[int][]string{
		frame.ExitUsage:       {"--agent", "demo", "proxy", "--fault", "fire"},
		frame.ExitUnreachable: {"--agent", "no-such-card.json", "proxy"},
		frame.ExitFailed:      {"--agent", "demo", "proxy", "--listen", "203.0.113.1:1"},
	} {
		if status, _, stderr := runMain("", args...); status != want {
			t.Errorf("%v: status %d, %s", args, status, stderr)
		}
	}
}

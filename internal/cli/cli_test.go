package cli

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func runMain(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	status = Main(context.Background(), append([]string{"a2astdio"}, args...), strings.NewReader(stdin), &out, &errOut, "v0.0.0-test")
	return status, out.String(), errOut.String()
}

// TestCommands: a command is found by its name.
func TestCommands(t *testing.T) {
	for _, c := range commands {
		if got := c.Make(new(frame.Program)).Name; got != c.Name {
			t.Errorf("%s is called %s", c.Name, got)
		}
	}
}

// A typist is a terminal: it types lines, and keeps what is shown.
type typist struct {
	io.Reader
	mu     sync.Mutex // a terminal takes writes from several goroutines
	shown  strings.Builder
	closed bool
}

func (t *typist) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown.Write(p)
}
func (t *typist) Close() error { t.closed = true; return nil }

// TestDemoListen: stdout has only the ready line, and a requested end is no failure.
func TestDemoListen(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, w := io.Pipe()
	status := make(chan int, 1)
	var stderr bytes.Buffer
	go func() { // ends with ctx
		defer w.Close()
		status <- Main(ctx, []string{"a2astdio", "demo", "--listen", ":0"}, strings.NewReader(""), w, &stderr, "")
	}()
	lines := bufio.NewReader(out)
	url, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if status, stdout, stderr := runMain("", "--agent", strings.TrimSpace(url), "send", "hello"); status != 0 || !strings.HasPrefix(stdout, "Hello") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	stop()
	rest, err := io.ReadAll(lines)
	if got := <-status; got != 0 || len(rest) > 0 || err != nil || stderr.Len() > 0 {
		t.Errorf("status %d, stdout %q, stderr %q, %v", got, rest, stderr.String(), err)
	}
}

package cli

import (
	"bytes"
	"context"
	"flag"
	"io"
	"strings"
	"sync"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func runMain(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	status = Main(context.Background(), append([]string{"a2astdio"}, args...), strings.NewReader(stdin), &out, &errOut, "v0.0.0-test")
	return status, out.String(), errOut.String()
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

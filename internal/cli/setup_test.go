package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/config"
)

// A typist is a terminal: it types lines, and keeps what is shown.
type typist struct {
	io.Reader
	mu    sync.Mutex // a terminal takes writes from several goroutines
	shown strings.Builder
}

func (t *typist) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown.Write(p)
}
func (t *typist) Close() error { return nil }

// runSetup types at setup's terminal.
func runSetup(t *testing.T, typed io.Reader, args ...string) (shown string, err error) {
	t.Helper()
	tty := &typist{Reader: typed}
	p := newProgram(append([]string{"a2astdio", "setup"}, args...), strings.NewReader(""), io.Discard, io.Discard)
	p.Terminal = func() (io.ReadWriteCloser, error) { return tty, nil }
	err = p.RunCommand(t.Context(), p.App())
	return tty.shown.String(), err
}

// TestSetupEnds: who ends the input, or interrupts, has set nothing up; an agent whose
// prompt fails is stored only if the user says so.
func TestSetupEnds(t *testing.T) {
	home := ownHome(t)
	file := filepath.Join(home, "a2astdio", config.FileName)
	for typed, want := range map[string]error{"": frame.ErrGivenUp, "demo\n": frame.ErrGivenUp, "demo\nhello\n": frame.ErrGivenUp, "demo\nfail\nn\n": nil} {
		shown, err := runSetup(t, strings.NewReader(typed))
		if want != nil && !errors.Is(err, want) || err == nil {
			t.Errorf("%q: %v\n%s", typed, err, shown)
		}
		if _, err := os.Stat(file); err == nil {
			t.Fatalf("%q: something was stored", typed)
		}
	}
	if shown, err := runSetup(t, strings.NewReader("demo\nfail\ny\nbroken\n")); err != nil || !strings.Contains(shown, "Stored as broken") {
		t.Errorf("%v\n%s", err, shown)
	}
	if shown, err := runSetup(t, strings.NewReader("broken\n-\n")); err != nil || !strings.Contains(shown, "All is well with broken. Nothing has changed.") {
		t.Errorf("%v\n%s", err, shown)
	}

	// What the agent asks in the prompt that tries it is asked there, too.
	for answer, want := range map[string]string{"n": "I do not run", "y": "The command succeeded"} {
		shown, err := runSetup(t, iotest.OneByteReader(strings.NewReader("demo\nshell\n"+answer+"\nasked-"+answer+"\nn\n")))
		if err != nil || !strings.Contains(shown, "The agent asks:") || !strings.Contains(shown, want) || !strings.Contains(shown, "Stored as asked-"+answer) {
			t.Errorf("%s: %v\n%s", answer, err, shown)
		}
	}

	r, w := io.Pipe()
	defer w.Close()
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	a := &frame.Asker{Ctx: ctx, TTY: &typist{Reader: r}, Lines: bufio.NewReader(r), Out: io.Discard}
	if _, err := a.Ask("x", ""); !errors.Is(err, frame.ErrInterrupted) {
		t.Error(err)
	}
}

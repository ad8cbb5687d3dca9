package companion

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
)

// TestMain gives the tests discovery directories of their own.
func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "companion-")
	if err != nil {
		log.Print(err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"TMPDIR", "TMP", "TEMP", "QWEN_HOME"} {
		os.Setenv(name, dir)
	}
	return m.Run()
}

// A scriptedEditor records what it is asked, and answers as its fields say.
type scriptedEditor struct {
	open  func(context.Context, OpenDiff) error // nil: it shows every diff
	close func(context.Context, CloseDiff) (CloseDiffResult, error)

	mu      sync.Mutex
	said    []string
	started []Started
}

func (e *scriptedEditor) Request(ctx context.Context, method string, params, result any) error {
	e.note(method, params)
	switch p := params.(type) {
	case OpenDiff:
		if e.open != nil {
			return e.open(ctx, p)
		}
		return nil
	case CloseDiff:
		if e.close != nil {
			answer, err := e.close(ctx, p)
			*result.(*CloseDiffResult) = answer
			return err
		}
		return nil
	}
	return fmt.Errorf("no method %s", method)
}

func (e *scriptedEditor) Notify(_ context.Context, method string, params any) error {
	e.note(method, params)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.started = append(e.started, params.(Started))
	return nil
}

func (e *scriptedEditor) note(method string, params any) {
	line := method
	switch p := params.(type) {
	case OpenDiff:
		line += " " + p.DiffID + " " + p.FilePath
	case CloseDiff:
		line += " " + p.DiffID + " " + p.FilePath
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.said = append(e.said, line)
}

// heard returns what the editor was asked since the last call.
func (e *scriptedEditor) heard() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	said := e.said
	e.said = nil
	return said
}

// A scriptedCLI is a client without a network.
type scriptedCLI struct {
	mu       sync.Mutex
	contexts []string
	decided  []string
}

func (c *scriptedCLI) show(params json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.contexts = append(c.contexts, string(params))
}

func (c *scriptedCLI) decide(method string, d decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, _ := json.Marshal(d)
	c.decided = append(c.decided, method+" "+string(b))
}

func (c *scriptedCLI) heard() (contexts, decided []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	contexts, decided = c.contexts, c.decided
	c.contexts, c.decided = nil, nil
	return contexts, decided
}

// serverOf is a Server without files and network, for its Handle.
func serverOf(t *testing.T, e Editor) *Server {
	t.Helper()
	s := &Server{hub: newHub(e, slog.New(slog.DiscardHandler))}
	s.work.Go(s.hub.publish)
	t.Cleanup(func() {
		s.hub.close()
		s.work.Wait()
	})
	return s
}

// say has the editor say something, as JSON.
func say(t *testing.T, s *Server, method, params string) {
	t.Helper()
	if _, err := s.Handle(method, json.RawMessage(params)); err != nil {
		t.Errorf("%s %s: %v", method, params, err)
	}
}

func wantLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// hang is an editor that is asked to open a diff, and does not answer.
func hang(asked chan<- struct{}) func(context.Context, OpenDiff) error {
	return func(ctx context.Context, _ OpenDiff) error {
		close(asked)
		<-ctx.Done()
		return ctx.Err()
	}
}

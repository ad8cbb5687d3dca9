package credentials

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport"
)

// What a command may print, and what is refused of it.
func TestCommandPrints(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, test := range must.Table[struct{ Out, Want, Err string }](t, "testdata/printed.txt") {
		file := must.File(t, test.Out, t.TempDir(), "out")
		h, err := (&Command{Line: helperCommand("cat", file)}).ask(t.Context(), "https://agent.example/", time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC))
		if must.Fail(t, err, test.Err, test.Out); err != nil {
			must.Equal(t, strings.Contains(err.Error(), "log in"), false, err)
			continue
		}
		last := h.token
		if h.header != nil {
			last = h.expiry.Format(time.DateOnly)
		}
		must.Equal(t, fmt.Sprint(h.header, " ", last), test.Want, test.Out)
	}
}

// A command is run once for requests at once, told nothing of ours, and not again before
// its answer is old or is refused.
func TestCredentialCommand(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("A2ASTDIO_TOKEN", "hunter2-env")
	notes := filepath.Join(t.TempDir(), "notes")
	t.Setenv("NOTES", notes)
	turned := &clock{}
	a := newAgent(t, nil)
	good := "Bearer one"
	var mu sync.Mutex
	a.takes = func(r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		return r.Header.Get("Authorization") == good
	}
	c, s := a.client(t, &Options{Now: turned.now, Command: Command{Line: helperCommand("print", "one")}})
	runs := func() int {
		b, _ := os.ReadFile(notes)
		return strings.Count(string(b), "run\n")
	}
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { must.Fail(t, prompt(t.Context(), c), "") })
	}
	wg.Wait()
	b, _ := os.ReadFile(notes)
	must.True(t, runs() == 1 && !strings.Contains(strings.ToUpper(string(b)), "A2ASTDIO_"), runs(), "runs", b)
	turned.turn(tokenLife - 29*time.Second)
	prompts(t, c)
	must.Equal(t, runs(), 2)
	// Refused: it is asked again, once, and gives the same.
	mu.Lock()
	good = "Bearer two"
	mu.Unlock()
	before := a.count("401")
	refused(t, c, "it does not take what --credential-command gives")
	must.Equal(t, runs(), 3)
	must.Equal(t, a.count("401"), before+1)
	// And something else.
	s.opts.Command.Line = helperCommand("print", "two")
	prompts(t, c)
	must.Equal(t, runs(), 4)
	// And as a header.
	turned.turn(tokenLife)
	s.opts.Command.Line = helperCommand("print", `{"headers":{"Authorization":["Bearer two"]}}`)
	prompts(t, c)
	must.Equal(t, runs(), 5)
}

// What a command says when it fails is shown, without what would control the
// terminal; one that never ends is ended, with its children.
func TestCommandFails(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	u, _ := url.Parse("https://agent.example/")
	for command, want := range map[string]string{
		helperCommand("fail"):       "failed (exit status 3): ␛[31mnot logged in run helper login",
		"/no/such/program get":      "/no/such/program cannot be run",
		"helper | tee x":            "there is no shell",
		helperCommand("print", " "): "it printed nothing",
	} {
		s := New(&Options{Agent: u.String(), Command: Command{Line: command}})
		_, err := s.Credential(t.Context(), &transport.Challenge{URL: u, Status: 401})
		must.Fail(t, err, want, command)
		must.Equal(t, strings.Contains(fmt.Sprint(err), "\x1b"), false, command)
		s.Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := (&Command{Line: helperCommand("hang")}).run(ctx, nil)
	must.True(t, err != nil, "it has ended")
}

// A secret in a file is used if nobody else can read it, and read anew when it is
// replaced.
func TestSecretFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		os.Remove(file)
		must.Do(t, os.WriteFile(file, []byte(text), mode))
		must.Do(t, os.Chmod(file, mode))
	}
	s := Secret{File: file, Name: "--token-file"}
	for _, test := range []struct {
		text string
		mode os.FileMode
		want string
	}{
		{"hunter2\n", 0o600, ""},
		{"hunter2", 0o400, ""},
		{"hunter2", 0o640, "can be read by others than you"},
		{"hunter2", 0o604, "can be read by others than you"},
		{"hunter2", 0o620, "can be written by others than you"},
		{"", 0o600, "is empty"},
		{"hunter2\nhunter3", 0o600, "more than one line"},
		{strings.Repeat("x", maxSecret+1), 0o600, "it is no secret"},
	} {
		write(test.text, test.mode)
		got, err := s.read()
		if test.want == "" && (err != nil || got != "hunter2") || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter")) {
			if os.PathSeparator == '\\' && test.mode != 0o600 {
				continue // permission bits mean nothing there
			}
			t.Errorf("%.20q %o: %q, %v", test.text, test.mode, got, err)
		}
	}
	a := newAgent(t, nil)
	a.takes = func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer two" }
	write("one", 0o600)
	c, _ := a.client(t, &Options{Token: s})
	refused(t, c, "it does not take what --token-file gives")
	write("two", 0o600)
	prompts(t, c)
}

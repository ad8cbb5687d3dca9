package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

const sessionParams = `{"cwd":"/","mcpServers":[]}`

func ownHome(t *testing.T) string {
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, home)
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "A2ASTDIO_") {
			t.Setenv(name, "")
		}
	}
	return home
}

// TestNoAgent: an editor that starts us with nothing is answered, and offered a way to
// set an agent up; what needs one says so; and as soon as one is stored it is used, by
// the bridge that runs.
func TestNoAgent(t *testing.T) {
	home := ownHome(t)
	trace := filepath.Join(home, "trace.jsonl")
	e := newEditor(t, "--trace", trace, "--on-eof", "finish")
	r := e.ask("initialize", `{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true}}}`)
	if got := r.Get("result.authMethods.#.id").String(); got != `["setup","stored"]` {
		t.Fatalf("offered: %s", r)
	}
	if m := r.Get("result.authMethods.0"); m.Get("type").Str != "terminal" || m.Get("args").Raw != `["setup"]` || m.Get("_meta").Exists() {
		t.Errorf("the terminal's method: %s", m)
	}
	if r = e.ask("session/list", `{"cwd":"/"}`); r.Get("result").Raw != `{"sessions":[]}` {
		t.Errorf("session/list: %s", r) // agent-shell would show nothing
	}
	for _, method := range []string{"session/new", "session/load", "authenticate"} {
		r = e.ask(method, `{"cwd":"/","mcpServers":[],"sessionId":"x","methodId":"setup"}`)
		message, details := r.Get("error.message").Str, r.Get("error.data.details").Str
		if r.Get("error.code").Int() != -32000 || !strings.HasPrefix(message, "Authentication required: no agent is set up yet") || !strings.Contains(details, " setup") {
			t.Errorf("%s: %s", method, r)
		}
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("there is a trace of nothing")
	}

	if status, stdout, stderr := runMain("", "setup", "--no-input", "--name", "mine", "--mode", "accept-edits", "demo"); status != 0 || stderr != "" {
		t.Fatal(status, stdout, stderr)
	}
	r = e.ask("authenticate", `{"methodId":"stored"}`)
	if r.Get("result").Raw != "{}" {
		t.Fatalf("authenticate: %s", r)
	}
	r = e.ask("session/new", sessionParams)
	id := r.Get("result.sessionId").Str
	if got := r.Get("result.modes.currentModeId").Str; id == "" || got != "accept-edits" {
		t.Fatalf("session/new: %s", r)
	}
	r, seen := e.askSeen("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"hello"}]}`, id))
	if r.Get("result.stopReason").Str != "end_turn" || !strings.Contains(seen, `"text":"Hello`) {
		t.Errorf("the prompt: %s%s", seen, r)
	}
	if b, _ := os.ReadFile(trace); !strings.Contains(string(b), "session/prompt") || !strings.Contains(string(b), "MessageStream") && !strings.Contains(string(b), "SendStreamingMessage") {
		t.Errorf("the trace has not both wires: %s", b)
	}
}

// TestNoAgentSessions: without authenticating, whatever needs an agent finds the one
// that was stored, also when several ask at once.
func TestNoAgentSessions(t *testing.T) {
	ownHome(t)
	e := newEditor(t)
	e.ask("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
	must.Do(t, config.Store(config.UserFile(), "mine", []config.Entry{{Key: "url", Value: config.Quote("demo")}}, true))
	for range 5 {
		fmt.Fprintf(e.in, `{"jsonrpc":"2.0","id":"x","method":"session/new","params":%s}`+"\n", sessionParams)
	}
	if r, seen := e.askSeen("session/new", sessionParams); !r.Get("result.sessionId").Exists() || strings.Contains(seen, "error") {
		t.Errorf("%s%s", seen, r)
	}
}

// TestOffered: methods that run in a terminal are for editors that have one, in either
// way to say so; an agent that was named on the command line leaves nothing to set up.
func TestOffered(t *testing.T) {
	home := ownHome(t)
	for _, test := range []struct{ capabilities, want string }{
		{`{}`, `["stored"]`},
		{`{"auth":{"terminal":true}}`, `["setup","stored"]`},
		{`{"terminal":true,"_meta":{"terminal-auth":true}}`, `["setup","stored"]`},
		{`{"auth":{"terminal":false},"_meta":{"terminal-auth":false}}`, `["stored"]`},
	} {
		e := newEditor(t, "--log-level", "error")
		r := e.ask("initialize", `{"protocolVersion":1,"clientCapabilities":`+test.capabilities+`}`)
		if got := r.Get("result.authMethods.#.id").String(); got != test.want {
			t.Errorf("%s: %s", test.capabilities, r)
		}
		if m := r.Get(`result.authMethods.0._meta.terminal-auth`); strings.Contains(test.capabilities, `"terminal-auth":true`) {
			if m.Get("command").Str != reach.Self() || m.Get("args").Raw != `["--log-level","error","setup"]` {
				t.Errorf("the whole command: %s", m)
			}
		}
	}
	e := newEditor(t, "--agent", "demo")
	if r := e.ask("initialize", `{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true}}}`); r.Get("result.authMethods").Raw != "[]" {
		t.Errorf("with an agent: %s", r)
	}
	file := filepath.Join(home, "a2astdio", config.FileName)
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("agent = 'demo'\n"), 0o600)))
	e = newEditor(t)
	if r := e.ask("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`); r.Get("result.authMethods.#.id").String() != `["stored"]` {
		t.Errorf("with an agent that was set up: %s", r)
	}
	if r := e.ask("authenticate", `{"methodId":"stored"}`); r.Get("result").Raw != "{}" {
		t.Errorf("authenticate: %s", r)
	}
}

// TestNoAgentLines: a script of A2A lines hears what is missing, without ACP's words.
func TestNoAgentLines(t *testing.T) {
	ownHome(t)
	e := newEditor(t)
	r := e.ask("message/send", `{"text":"hello"}`)
	if !strings.HasPrefix(r.Get("error.message").Str, "bridge: no agent is set up yet") {
		t.Error(r)
	}
	if status, stdout, stderr := runMain("", "--protocol", "a2a"); status != frame.ExitUsage || stdout != "" || !strings.Contains(stderr, "which agent?") {
		t.Error(status, stdout, stderr)
	}
}

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

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/config"
)

// A pipedEditor speaks to a bridge in this process.
type pipedEditor struct {
	t     *testing.T
	in    *io.PipeWriter
	lines *bufio.Reader
	id    int
}

// openEditor starts a2astdio with these arguments as an editor would, in an empty
// home.
func openEditor(t *testing.T, args ...string) *pipedEditor {
	t.Helper()
	toBridge, in := io.Pipe()
	out, fromBridge := io.Pipe()
	done := make(chan string, 1)
	go func() { // ends with the input
		var stderr strings.Builder
		status := Main(context.Background(), append([]string{"a2astdio"}, args...), toBridge, fromBridge, &stderr, "v0.0.0-test")
		fromBridge.Close()
		done <- fmt.Sprint(status, stderr.String())
	}()
	t.Cleanup(func() {
		in.Close()
		_, _ = io.Copy(io.Discard, out)
		if end := <-done; end != "0" {
			t.Errorf("the bridge ended with %s", end)
		}
	})
	return &pipedEditor{t: t, in: in, lines: bufio.NewReader(out)}
}

// call sends a request and returns its response; what comes before is in seen.
func (e *pipedEditor) call(method, params string) (response gjson.Result, seen string) {
	e.t.Helper()
	e.id++
	if _, err := fmt.Fprintf(e.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", e.id, method, params); err != nil {
		e.t.Fatal(err)
	}
	for {
		line, err := e.lines.ReadString('\n')
		if err != nil {
			e.t.Fatalf("%s: %v after %s", method, err, seen)
		}
		if r := gjson.Parse(line); r.Get("id").Int() == int64(e.id) && !r.Get("method").Exists() {
			return r, seen
		}
		seen += line
	}
}

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
	e := openEditor(t, "--trace", trace, "--on-eof", "finish")
	r, _ := e.call("initialize", `{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true}}}`)
	if got := r.Get("result.authMethods.#.id").String(); got != `["setup","stored"]` {
		t.Fatalf("offered: %s", r)
	}
	if m := r.Get("result.authMethods.0"); m.Get("type").Str != "terminal" || m.Get("args").Raw != `["setup"]` || m.Get("_meta").Exists() {
		t.Errorf("the terminal's method: %s", m)
	}
	if r, _ = e.call("session/list", `{"cwd":"/"}`); r.Get("result").Raw != `{"sessions":[]}` {
		t.Errorf("session/list: %s", r) // agent-shell would show nothing
	}
	for _, method := range []string{"session/new", "session/load", "authenticate"} {
		r, _ = e.call(method, `{"cwd":"/","mcpServers":[],"sessionId":"x","methodId":"setup"}`)
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
	r, _ = e.call("authenticate", `{"methodId":"stored"}`)
	if r.Get("result").Raw != "{}" {
		t.Fatalf("authenticate: %s", r)
	}
	r, _ = e.call("session/new", sessionParams)
	id := r.Get("result.sessionId").Str
	if got := r.Get("result.modes.currentModeId").Str; id == "" || got != "accept-edits" {
		t.Fatalf("session/new: %s", r)
	}
	r, seen := e.call("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"hello"}]}`, id))
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
	e := openEditor(t)
	e.call("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
	if err := config.Store(config.UserFile(), "mine", []config.Entry{{Key: "url", Value: config.Quote("demo")}}, true); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		fmt.Fprintf(e.in, `{"jsonrpc":"2.0","id":"x","method":"session/new","params":%s}`+"\n", sessionParams)
	}
	if r, seen := e.call("session/new", sessionParams); !r.Get("result.sessionId").Exists() || strings.Contains(seen, "error") {
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
		e := openEditor(t, "--log-level", "error")
		r, _ := e.call("initialize", `{"protocolVersion":1,"clientCapabilities":`+test.capabilities+`}`)
		if got := r.Get("result.authMethods.#.id").String(); got != test.want {
			t.Errorf("%s: %s", test.capabilities, r)
		}
		if m := r.Get(`result.authMethods.0._meta.terminal-auth`); strings.Contains(test.capabilities, `"terminal-auth":true`) {
			if m.Get("command").Str != reach.Self() || m.Get("args").Raw != `["--log-level","error","setup"]` {
				t.Errorf("the whole command: %s", m)
			}
		}
	}
	e := openEditor(t, "--agent", "demo")
	if r, _ := e.call("initialize", `{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true}}}`); r.Get("result.authMethods").Raw != "[]" {
		t.Errorf("with an agent: %s", r)
	}
	file := filepath.Join(home, "a2astdio", config.FileName)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("agent = 'demo'\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	e = openEditor(t)
	if r, _ := e.call("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`); r.Get("result.authMethods.#.id").String() != `["stored"]` {
		t.Errorf("with an agent that was set up: %s", r)
	}
	if r, _ := e.call("authenticate", `{"methodId":"stored"}`); r.Get("result").Raw != "{}" {
		t.Errorf("authenticate: %s", r)
	}
}

// TestNoAgentLines: a script of A2A lines hears what is missing, without ACP's words.
func TestNoAgentLines(t *testing.T) {
	ownHome(t)
	e := openEditor(t)
	r, _ := e.call("message/send", `{"text":"hello"}`)
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
	a := &frame.Asker{Ctx: ctx, TTY: &typist{Reader: r}, Lines: bufio.NewReader(r)}
	if _, err := a.Ask("x", ""); !errors.Is(err, frame.ErrInterrupted) {
		t.Error(err)
	}
}

// TestRegistry does what the ACP registry's check does with an agent: it starts it in
// an empty home with a bare environment, sends one initialize, and wants a way to
// authenticate in the first line; and it starts it without any input.
func TestRegistry(t *testing.T) {
	program, err := exec.LookPath("a2astdio") // the test binary: see TestMain
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	bare := func(stdin io.Reader) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Dir, cmd.Stdin = home, stdin
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=dumb", "CI=true", "TMPDIR=" + os.TempDir()}
		return cmd
	}
	r, w := io.Pipe()
	defer w.Close()
	cmd := bare(r)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(w, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"ACP Registry Validator","version":"1.0.0"},`+
		`"clientCapabilities":{"terminal":true,"fs":{"readTextFile":true,"writeTextFile":true},"_meta":{"terminal_output":true,"terminal-auth":true}}}}`)
	line, err := bufio.NewReader(out).ReadString('\n')
	var answer struct {
		Result struct {
			AuthMethods []struct{ ID, Name, Type string }
		}
	}
	if err != nil || json.Unmarshal([]byte(line), &answer) != nil {
		t.Fatalf("the first line is %q, %v", line, err)
	}
	fit := 0
	for _, m := range answer.Result.AuthMethods {
		if m.ID != "" && m.Name != "" && (m.Type == "" || m.Type == "agent" || m.Type == "terminal") {
			fit++
		}
	}
	if fit == 0 || fit != len(answer.Result.AuthMethods) {
		t.Errorf("the ways to authenticate: %s", line)
	}
	if err := errors.Join(w.Close(), cmd.Wait()); err != nil || stderr.Len() > 0 {
		t.Errorf("at the end of input: %v, stderr %q", err, stderr.String())
	}
	output, err := bare(strings.NewReader("")).CombinedOutput()
	if left, _ := os.ReadDir(home); err != nil || len(output) > 0 {
		t.Errorf("without input: %v, %q", err, output)
	} else if len(left) > 0 {
		t.Errorf("it has left %v in the home", left)
	}
}

package cli

import (
	"bufio"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
)

func TestMain(m *testing.M) {
	testscript.Main(ownState{m}, map[string]func(){
		"a2astdio": func() {
			noteCommandLine()
			os.Exit(Main(UntilSignal(), os.Args, os.Stdin, os.Stdout, os.Stderr, "v0.0.0-test"))
		},
		"refused":  refused,
		"editor":   playEditor,
		"talk":     talk,
		"browse":   browse,
		"terminal": atTerminal,
	})
}

// ownState gives the tests their own place for sessions and configuration, apart from
// the user's.
type ownState struct{ m *testing.M }

// Run implements [testscript.TestingM]. It is not called in the commands of the
// scripts.
func (o ownState) Run() int {
	dir, err := os.MkdirTemp("", "a2astdio-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"XDG_STATE_HOME", "LocalAppData", "XDG_CONFIG_HOME", "AppData"} {
		os.Setenv(name, dir)
	}
	// Most of the tests wait for something: more of them run at once than there are processors.
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	return o.m.Run()
}

// TestScript runs testdata/script. Besides testscript's own commands there are
//
//	status N COMMAND...   the command exits with N
//	refused FILE          each line of the file is "[A2ASTDIO_X=VALUE] ARG... => REGEXP":
//	                      a2astdio exits with 2, and what it says on stderr matches;
//	                      for exec, and in one process
//	editor PROMPT ARG...  an editor that starts a2astdio with these arguments,
//	                      sends one prompt and closes a2astdio's stdin
//	interrupt FILE TEXT COMMAND...  the command gets an interrupt as soon as the
//	                      file contains the text, and exits with 130
//	talk FILE ARG...      an editor that starts a2astdio with these arguments and
//	                      has the conversation of the file: see [talk]
//	terminal FILE COMMAND...  the command runs at a terminal where the file is typed;
//	                      for exec and status: see [atTerminal]
//	agent NAME FILE       $NAME is the URL of an agent that the file describes: see
//	                      [canned]
//	serve NAME COMMAND... the command runs until the script ends; $NAME is its URL,
//	                      which it prints
//	end NAME [REGEXP]     it is interrupted; what it has said on stderr matches, or is
//	                      nothing
//
// and the agents of [scriptAgents]; $TLS is the demo with a certificate that only
// .home/ca.pem vouches for, and .home/session.sh the session of the documentation.
func TestScript(t *testing.T) {
	t.Parallel()
	env := map[string]string{}
	agents, end := scriptAgents()
	for name, handler := range agents {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		env[name] = server.URL
	}
	secure := httptest.NewUnstartedServer(agents["AGENT"])
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	t.Cleanup(end)
	env["TLS"] = secure.URL
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	session := pastedSession(t)
	// Pages fold paths where the terminal ends: no script may rest on a short one.
	root := filepath.Join(t.TempDir(), "a-directory-with-a-name-that-is-too-long-for-a-line-with-others")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		WorkdirRoot:   root,
		Dir:           filepath.Join("..", "..", "testdata", "script"),
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			for name, url := range env {
				e.Setenv(name, url)
			}
			e.Setenv("TOKEN_PORT", env["TOKEN"][strings.LastIndexByte(env["TOKEN"], ':')+1:])
			e.Values[served{}] = map[string]*exec.Cmd{}
			home := filepath.Join(e.WorkDir, ".home")
			for _, name := range []string{"HOME", "XDG_STATE_HOME", "LocalAppData", "XDG_CONFIG_HOME", "AppData"} {
				e.Setenv(name, home)
			}
			return errors.Join(os.Mkdir(home, 0o700),
				os.WriteFile(filepath.Join(home, "ca.pem"), ca, 0o600),
				os.WriteFile(filepath.Join(home, "session.sh"), session, 0o600))
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":    status,
			"interrupt": interrupt,
			"agent":     serveCanned,
			"serve":     serveURL,
			"end":       endServing,
		},
	})
}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

type brokenPipe struct{}

// TestReaderGone: send | head cancels the task silently.
func TestReaderGone(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "t")
	var stderr strings.Builder
	status := Main(t.Context(), []string{"a2astdio", "-a", "demo", "--trace", trace, "send", "slow"}, strings.NewReader(""), brokenPipe{}, &stderr, "")
	b, err := os.ReadFile(trace)
	if status != frame.ExitFailed || stderr.Len() > 0 || err != nil || !strings.Contains(string(b), `"method":"CancelTask"`) {
		t.Errorf("status %d, stderr %q, %v, trace\n%s", status, stderr.String(), err, b)
	}
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND...")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("status %d, not %s", code, args[0])
	}
}

func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupt FILE TEXT COMMAND...")
	}
	file := ts.MkAbs(args[0])
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	ts.Check(cmd.Start())
	timeout := time.After(talkTimeout)
	for {
		if b, _ := os.ReadFile(file); strings.Contains(string(b), args[1]) {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-timeout:
			_ = cmd.Process.Kill()
			ts.Fatalf("%s never contained %q", file, args[1])
		}
	}
	ts.Check(cmd.Process.Signal(os.Interrupt))
	_ = cmd.Process.Signal(syscall.SIGTERM) // as timeout(1) does, to the whole group
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != frame.ExitInterrupted {
		ts.Fatalf("status %d after an interrupt", code)
	}
}

// served is the key of a script's commands that serve.
type served struct{}

func serveURL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve NAME COMMAND...")
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir, cmd.Stderr = ts.MkAbs("."), new(strings.Builder)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() { _ = cmd.Process.Kill() })
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		ts.Fatalf("%v: %s", err, cmd.Stderr)
	}
	ts.Setenv(args[0], strings.TrimSpace(url))
	ts.Value(served{}).(map[string]*exec.Cmd)[args[0]] = cmd
}

func endServing(ts *testscript.TestScript, neg bool, args []string) {
	cmd := ts.Value(served{}).(map[string]*exec.Cmd)[args[0]]
	ts.Check(cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait() // it is interrupted
	want := "^$"
	if len(args) > 1 {
		want = args[1]
	}
	if said := fmt.Sprint(cmd.Stderr); !regexp.MustCompile(want).MatchString(said) {
		ts.Fatalf("%s has said %q", args[0], said)
	}
}

// refused runs command lines that are wrong.
func refused() {
	file, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ok := true
	for line := range strings.Lines(string(file)) {
		words, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		args := wordsOf(os.ExpandEnv(words))
		name, value, set := strings.Cut(args[0], "=")
		if set = set && strings.HasPrefix(name, "A2ASTDIO_"); set {
			os.Setenv(name, value)
			args = args[1:]
		}
		status, stdout, stderr := runMain("", args...)
		if status != frame.ExitUsage || stdout != "" || stderr == "" || !regexp.MustCompile("(?m)"+want).MatchString(stderr) {
			ok = false
			fmt.Fprintf(os.Stderr, "%sstatus %d, %s%s", line, status, stdout, stderr)
		}
		if set {
			os.Unsetenv(name)
		}
	}
	if !ok {
		os.Exit(1)
	}
}

// playEditor is an editor with one prompt, as a process: a [talk].
func playEditor() {
	cwd, _ := os.Getwd()
	hold(fmt.Sprintf(`> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
< "id":0,
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}
< "id":1,(.*"sessionId":"(?P<SESSION>[^"]+))?
> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"${SESSION}","prompt":[{"type":"text","text":%q}]}}
`, cwd, os.Args[1]))
}

// talk is an editor with a conversation, of which the lines are
//
//	> JSON    send it
//	< REGEXP  wait for a line that matches; named groups can be used as ${NAME}
//	          from then on, also by the talks that follow in the same directory
//	kill      kill a2astdio, as a crash would
//	! COMMAND meanwhile the user runs a command
//
// At the end stdin is closed. What a2astdio writes is copied.
func talk() {
	script, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	hold(string(script))
}

// hold has a conversation.
func hold(script string) {
	fail := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
		os.Exit(1)
	}
	names := map[string]string{}
	if b, err := os.ReadFile("names.json"); err == nil {
		_ = json.Unmarshal(b, &names)
	}
	names["PWD"], _ = os.Getwd()
	cmd := exec.Command("a2astdio", os.Args[2:]...)
	cmd.Stderr = os.Stderr
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		fail("%v", err)
	}
	lines := make(chan string)
	go func() { // ends with a2astdio
		defer close(lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}()
	killed := false
	for step := range strings.Lines(script) {
		what, rest, _ := strings.Cut(strings.TrimSpace(step), " ")
		rest = os.Expand(rest, func(name string) string {
			if v, ok := names[name]; ok {
				return v
			}
			return "$" + name
		})
		switch what {
		case ">":
			fmt.Fprintln(in, rest)
		case "<":
			want := regexp.MustCompile(rest)
			timeout := time.After(talkTimeout)
			for found := false; !found; {
				select {
				case line, ok := <-lines:
					if !ok {
						fail("a2astdio ended before a line that matches %s", rest)
					}
					os.Stdout.WriteString(line)
					if m := want.FindStringSubmatch(line); m != nil {
						found = true
						for i, name := range want.SubexpNames()[1:] {
							names[name] = m[i+1]
						}
					}
				case <-timeout:
					_ = cmd.Process.Kill()
					fail("no line matches %s", rest)
				}
			}
		case "kill":
			_ = cmd.Process.Kill()
			killed = true
		case "!":
			words := strings.Fields(rest)
			if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
				fail("%s: %v: %s", rest, err, out)
			}
		case "":
		default:
			fail("what is %q?", what)
		}
	}
	in.Close()
	for line := range lines {
		os.Stdout.WriteString(line)
	}
	b, _ := json.Marshal(names)
	_ = os.WriteFile("names.json", b, 0o600)
	if err := cmd.Wait(); err != nil && !killed {
		fail("%v", err)
	}
}

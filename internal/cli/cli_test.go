package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func runMain(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	status = Main(context.Background(), append([]string{"a2astdio"}, args...), strings.NewReader(stdin), &out, &errOut, "v0.0.0-test")
	return status, out.String(), errOut.String()
}

// TestCommands: a command is found by its name.
func TestCommands(t *testing.T) {
	for _, c := range new(program).commands() {
		if got := c.make().Name; got != c.name {
			t.Errorf("%s is called %s", c.name, got)
		}
	}
}

// TestVariables: each option of a2astdio itself has its variable.
func TestVariables(t *testing.T) {
	t.Setenv("A2ASTDIO_AGENT", "demo")
	t.Setenv("A2ASTDIO_HEADER", "X-A: 1, 2\n\n X-B:3\n")
	for name, bad := range map[string]string{"DIALECT": "klingon", "MODE": "x", "ON_EOF": "x", "A2A_VERSION": "9", "LOG_LEVEL": "x",
		"TIMEOUT": "x", "FORWARD_MCP": "x", "AGENT_SETTINGS": "[]", "WORKSPACE": "/no/such", "TRACE": "/no/such/file", "LOG": "/no/such/file",
		"TRUST_ORIGIN": "nonsense", "HEADER": "nonsense"} {
		t.Run(name, func(t *testing.T) {
			if status, stdout, stderr := runMain("", "send", "hello"); status != 0 || stderr != "" {
				t.Fatalf("without it: status %d, %s%s", status, stdout, stderr)
			}
			t.Setenv("A2ASTDIO_"+name, bad)
			if status, stdout, stderr := runMain(""); status != exitUsage || stdout != "" || stderr == "" {
				t.Errorf("status %d, %s%s", status, stdout, stderr)
			}
		})
	}
	h, err := headers([]string{"X-A: 1, 2", "X-B:3"})
	if err != nil || h.Get("X-A") != "1, 2" || h.Get("X-B") != "3" {
		t.Errorf("%v %v", h, err)
	}
}

func TestHeaderErrorsHideValues(t *testing.T) {
	for _, bad := range []string{"hunter2", "Bad Name: hunter2", "X: hunter2\x01", ": hunter2"} {
		if _, err := headers([]string{bad}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	file := filepath.Join(t.TempDir(), "h")
	if err := os.WriteFile(file, []byte("# comment\nX-A: 1\n\nX-B: 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := headers([]string{"@" + file})
	if want := (http.Header{"X-A": {"1"}, "X-B": {"2"}}); err != nil || len(h) != 2 || h.Get("X-B") != want.Get("X-B") {
		t.Errorf("%v %v", h, err)
	}
}

func TestPlainText(t *testing.T) {
	const in = "a\tb\n\x1b[31mred\x1b]0;t\x07\r\x7f\u009b2J\u202eevil\u2066"
	if got, want := plainText(in), "a\tb\n␛[31mred␛]0;t␇␍␡�2J�evil�"; got != want {
		t.Errorf("%q", got)
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

func question() mapping.Question {
	old := "same\nold\nsame"
	call := &mapping.ToolCall{Name: "edit", Description: "Edit a file\x1b[2J", Confirmation: &mapping.Confirmation{
		Edit: &mapping.FileDiff{FilePath: "/w/f", OldContent: &old, NewContent: "same\nnew\nsame"}}}
	call.Confirmation.Options = []mapping.ConfirmationOption{{ID: "once", Name: "Allow once"}, {ID: "always", Name: "Always"}, {ID: "cancel", Name: "Reject"}}
	return mapping.NewQuestion(call)
}

func TestAskTerminal(t *testing.T) {
	for typed, want := range map[string]string{"1\n": "once", "9\nx\n2\n": "always", "yes\n": "once", "n\n": "cancel", "a\n": "always", "?\ny\n": "once", "": "", "3": "cancel"} {
		tty := &typist{Reader: strings.NewReader(typed)}
		a := &approver{how: approveAsk, terminal: func() (io.ReadWriteCloser, error) { return tty, nil }}
		answers, err := a.ask(t.Context(), []mapping.Question{question()})
		if err != nil || len(answers) != 1 || answers[0].OptionID != want || !tty.closed {
			t.Errorf("%q: %v %v", typed, answers, err)
		}
		shown := tty.shown.String()
		for _, want := range []string{"Edit a file\\u{1B}[2J", "/w/f", "    -old\n    +new\n", "  2 or a  Always\n", "Which? [1-3,y,n,a,?] "} {
			if !strings.Contains(shown, want) {
				t.Errorf("%q is not in\n%s", want, shown)
			}
		}
		if wrong := strings.Contains(shown, "  x is none of these; ? shows them again\n"); wrong != strings.Contains(typed, "x") {
			t.Errorf("%q: a wrong key: %t", typed, wrong)
		}
	}
}

// TestAskCancelled: Ctrl-C does not wait for an answer.
func TestAskCancelled(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := askTerminal(ctx, &typist{Reader: r}, []mapping.Question{question()})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestApprove(t *testing.T) {
	var said []string
	say := func(format string, _ ...any) { said = append(said, format) }
	none := func() (io.ReadWriteCloser, error) { return nil, errors.New("no terminal") }
	onlyReject, vague := question(), question()
	onlyReject.Options = onlyReject.Options[2:]
	vague.Call.Confirmation.Options = []mapping.ConfirmationOption{{ID: "sandbox", Name: "Sandbox"}, {ID: "host", Name: "Host"}}
	vague = mapping.NewQuestion(vague.Call)
	const byOnce, onTerminal, uncertain = "--approve once would allow it", "run it on one", "--approve ask asks you"
	for _, test := range []struct {
		how  string
		q    mapping.Question
		want string
		told string // why there is no answer, once
	}{
		{approveOnce, question(), "once", ""}, {approveAlways, question(), "always", ""},
		{approveReject, question(), "cancel", ""}, {approveAsk, question(), "", byOnce}, {approveAsk, vague, "", onTerminal},
		{approveAlways, onlyReject, "", uncertain}, {approveOnce, vague, "", uncertain}, {approveAlways, vague, "", uncertain},
		{approveReject, vague, vague.Options[2].ID, ""},
	} {
		said = nil
		a := &approver{how: test.how, terminal: none, say: say}
		var ids []string
		for range 2 {
			answers, err := a.ask(t.Context(), []mapping.Question{test.q})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, answers[0].OptionID)
		}
		if !slices.Equal(ids, []string{test.want, test.want}) {
			t.Errorf("%s: %v, want %q", test.how, ids, test.want)
		}
		if told := strings.Join(said, "\n"); test.told == "" && told != "" || len(said) > 1 || !strings.Contains(told, test.told) {
			t.Errorf("%s: said %q, want %q once", test.how, said, test.told)
		}
	}
}

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

// TestJSONDocument: parts that are not text, artifacts, a message without a task.
func TestJSONDocument(t *testing.T) {
	var b bytes.Buffer
	o := &jsonOutput{out: &b, say: func(string, ...any) {}}
	steps := []mapping.Step{
		{Kind: mapping.StepText, MessageID: "m", Text: "a <"},
		{Kind: mapping.StepText, MessageID: "m", Text: "b>"},
		{Kind: mapping.StepPart, MessageID: "m", Part: &a2a.Part{Kind: a2a.PartData, Data: `{"x":1}`}},
		{Kind: mapping.StepText, ArtifactID: "r", Name: "n", Text: "old"},
		{Kind: mapping.StepText, ArtifactID: "r", Name: "n", Text: "new", Append: false},
		{Kind: mapping.StepPart, ArtifactID: "r", Append: true, Part: &a2a.Part{Kind: a2a.PartFile, File: a2a.File{Name: "f", MediaType: "image/png", Bytes: "AA=="}}},
	}
	if err := o.show(steps); err != nil {
		t.Fatal(err)
	}
	if err := o.end(bridge.Result{TaskID: "t", ContextID: "c", State: a2a.StateInputRequired}, ""); err != nil {
		t.Fatal(err)
	}
	message := `{"messageId":"m","contextId":"c","taskId":"t","role":"ROLE_AGENT","parts":[{"text":"a <b>"},{"data":{"x":1}}]}`
	want := `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":` + message + `},` +
		`"artifacts":[{"artifactId":"r","name":"n","parts":[{"text":"new"},{"raw":"AA==","filename":"f","mediaType":"image/png"}]}],"history":[` + message + "]}}\n"
	if b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
	b.Reset()
	o = &jsonOutput{out: &b}
	if err := errors.Join(o.show(steps[:1]), o.end(bridge.Result{ContextID: "c"}, "")); err != nil {
		t.Fatal(err)
	}
	if want := `{"message":{"messageId":"m","contextId":"c","role":"ROLE_AGENT","parts":[{"text":"a <"}]}}` + "\n"; b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
}

// TestTextOutput: messages begin on their own lines; a terminal gets no control
// characters, a pipe gets every byte.
func TestTextOutput(t *testing.T) {
	for plain, want := range map[bool]string{false: "a\x1b[1mb\nc\n", true: "a␛[1mb\nc\n"} {
		var b bytes.Buffer
		o := &textOutput{out: &b, plain: plain}
		for _, s := range []mapping.Step{{Text: "a"}, {Text: "\x1b[1mb"}, {Shown: "2", Text: "c"}} {
			s.Kind = mapping.StepText
			if err := o.show([]mapping.Step{s}); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.end(bridge.Result{}, ""); err != nil || b.String() != want {
			t.Errorf("%q %v", b.String(), err)
		}
	}
}

package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/cli/serve"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/signin"
)

// An acpEditor talks to a2astdio in this process.
type acpEditor struct {
	t     *testing.T
	in    *io.PipeWriter
	lines *bufio.Reader
	all   bytes.Buffer // what it has read
	end   func() (stderr string)
	open  func(url string) // opens what an elicitation names
	wg    sync.WaitGroup
	id    int // of the last request of ask
	// on, if set, takes what comes before an answer, and returns the result for a request.
	on func(m gjson.Result) (result string)
}

func newEditor(t *testing.T, args ...string) *acpEditor {
	in, editorIn := io.Pipe()
	editorOut, out := io.Pipe()
	var stderr bytes.Buffer
	done := make(chan int, 1)
	go func() { // ends with its input
		done <- Main(t.Context(), append([]string{"a2astdio"}, args...), in, out, &stderr, "v0.0.0-test")
		out.Close()
	}()
	e := &acpEditor{t: t, in: editorIn, lines: bufio.NewReader(editorOut)}
	e.end = sync.OnceValue(func() string {
		editorIn.Close()
		_, _ = io.Copy(&e.all, e.lines)
		<-done
		e.wg.Wait()
		return stderr.String()
	})
	t.Cleanup(func() { e.end() })
	return e
}

// ask is call with an ID of its own.
func (e *acpEditor) ask(method, params string) gjson.Result {
	e.t.Helper()
	e.id++
	return e.call(e.id, method, params)
}

// askSeen also returns what came before the answer.
func (e *acpEditor) askSeen(method, params string) (answer gjson.Result, seen string) {
	e.t.Helper()
	from := e.all.Len()
	answer = e.ask(method, params)
	return answer, strings.TrimSuffix(e.all.String()[from:], answer.Raw+"\n")
}

// call makes a request and returns its answer. It agrees to all that a2astdio asks
// meanwhile.
func (e *acpEditor) call(id int, method, params string) gjson.Result {
	e.t.Helper()
	fmt.Fprintf(e.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
	for {
		line, err := e.lines.ReadString('\n')
		e.all.WriteString(line)
		if err != nil {
			e.t.Fatalf("%s: %v", method, err)
		}
		m, result := gjson.Parse(line), ""
		switch method := m.Get("method").Str; {
		case method == "" && m.Get("id").Int() == int64(id):
			return m
		case e.on != nil:
			result = e.on(m)
		case method == "elicitation/create":
			if url := m.Get("params.url").Str; m.Get("params.mode").Str == "url" {
				e.wg.Go(func() { e.open(url) }) // ends with the sign-in
			}
			result = `{"action":"accept"}`
		}
		if result != "" {
			fmt.Fprintf(e.in, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.Get("id").Raw, result)
		}
	}
}

// An editor's user signs in by authenticate, only when the agent wants that, and out by
// logout. Only the store has secrets.
func TestEditorLogin(t *testing.T) {
	state := t.TempDir()
	for _, name := range []string{"XDG_STATE_HOME", "LocalAppData"} {
		t.Setenv(name, state)
	}
	t.Setenv("BROWSER", "/no/such/browser") // BROWSER says that there is one; the editor opens the page
	t.Setenv("NO_BROWSER", "")
	agent := demo.New(&demo.Options{Version: "both", Pace: -1})
	server := httptest.NewServer(signin.Guard(agent))
	t.Cleanup(func() { server.Close(); agent.Close() })
	dir := t.TempDir()
	trace, log := filepath.Join(dir, "trace"), filepath.Join(dir, "log")
	e := newEditor(t, "--agent", server.URL+"/", "--trace", trace, "--log", log, "--log-level", "debug", "--oauth-scope", "agent", "--oauth-scope", "offline_access")
	e.open = func(url string) {
		if err := new(signin.Browser).Open(url); err != nil {
			t.Error(err)
		}
	}
	hello := e.call(1, "initialize", `{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true},"_meta":{"terminal-auth":true},"elicitation":{"url":{},"form":{}}}}`)
	methods := hello.Get("result.authMethods")
	terminal := methods.Get("1")
	if methods.Get("#").Int() != 2 || methods.Get("0.id").Str != serve.LoginMethod || methods.Get("0.type").Exists() ||
		terminal.Get("type").Str != "terminal" || terminal.Get("args").Raw != `["auth","login"]` || terminal.Get("env.A2ASTDIO_AGENT").Str != server.URL+"/" ||
		terminal.Get("env.A2ASTDIO_OAUTH_SCOPE").Str != "agent\noffline_access" ||
		!strings.Contains(terminal.Get("_meta.terminal-auth.args").Raw, `"--oauth-scope=offline_access","auth","login"]`) ||
		!hello.Get("result.agentCapabilities.auth.logout").IsObject() {
		t.Fatalf("%s", hello.Raw)
	}
	session := e.call(2, "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, dir)).Get("result.sessionId").Str
	prompt := func(id int) gjson.Result {
		return e.call(id, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"hello"}]}`, session))
	}
	if r := prompt(3); r.Get("error.code").Int() != -32000 || !strings.Contains(r.Get("error.message").Str, "auth login") {
		t.Errorf("%s", r.Raw)
	}
	// The terminal's method does nothing here, and the terminal has not run it.
	if r := e.call(4, "authenticate", `{"methodId":"`+serve.TerminalLoginMethod+`"}`); r.Get("error.code").Int() != -32000 {
		t.Errorf("%s", r.Raw)
	}
	if r := e.call(5, "authenticate", `{"methodId":"`+serve.LoginMethod+`"}`); !r.Get("result").IsObject() {
		t.Fatalf("%s", r.Raw)
	}
	if r := prompt(6); r.Get("result.stopReason").Str != "end_turn" {
		t.Errorf("%s", r.Raw)
	}
	// Now each method succeeds.
	if r := e.call(7, "authenticate", `{"methodId":"`+serve.TerminalLoginMethod+`"}`); !r.Get("result").IsObject() {
		t.Errorf("%s", r.Raw)
	}
	secrets := storedSecrets(t, state)
	if len(secrets) < 2 {
		t.Fatalf("%d secrets are stored", len(secrets))
	}
	if r := e.call(8, "logout", `{}`); !r.Get("result").IsObject() || len(storedSecrets(t, state)) != 0 {
		t.Errorf("%s", r.Raw)
	}
	if r := prompt(9); r.Get("error.code").Int() != -32000 {
		t.Errorf("%s", r.Raw)
	}
	stderr := e.end()
	if stderr != "" {
		t.Errorf("stderr: %s", stderr)
	}
	if !strings.Contains(e.all.String(), `"elicitation/complete"`) {
		t.Error("the editor is not told that the page is done with")
	}
	texts := map[string]string{"stdout": e.all.String()}
	for _, file := range []string{trace, log} {
		b, err := os.ReadFile(file)
		if err != nil || len(b) == 0 {
			t.Fatalf("%s: %v", file, err)
		}
		texts[file] = string(b)
	}
	for where, text := range texts {
		for _, s := range secrets {
			if strings.Contains(text, s) {
				t.Errorf("a secret is in %s", where)
			}
		}
	}
}

// A browser is offered where there is an identity provider to sign in at: not by an agent
// that takes a token only, that asks for nothing, or that is down.
func TestBrowserOffered(t *testing.T) {
	ownPlaces(t)
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	for schemes, want := range map[string]string{
		"": `[]`, "down": `["` + serve.TerminalLoginMethod + `"]`,
		`"a":{"type":"http","scheme":"bearer"}`:                                                      `["` + serve.TerminalLoginMethod + `"]`,
		`"a":{"type":"apiKey","in":"header","name":"X"}`:                                             `["` + serve.TerminalLoginMethod + `"]`,
		`"a":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://p/t","scopes":{}}}}`: `["` + serve.TerminalLoginMethod + `"]`,
		`"a":{"type":"openIdConnect","openIdConnectUrl":"https://p/o"}`:                              `["` + serve.LoginMethod + `","` + serve.TerminalLoginMethod + `"]`,
	} {
		agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"name":"x","version":"1","protocolVersion":"0.3.0","url":"http://%s/","capabilities":{},"skills":[],"defaultInputModes":[],"defaultOutputModes":[],"securitySchemes":{%s}}`, r.Host, schemes)
		}))
		url := agent.URL
		if schemes == "down" {
			url = down.URL
		}
		e := newEditor(t, "--agent", url)
		r := e.call(1, "initialize", `{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true},"elicitation":{"url":{},"form":{}}}}`)
		if got := r.Get("result.authMethods.#.id").Raw; got != want {
			t.Errorf("%s: %s is offered", schemes, got)
		}
		e.end()
		agent.Close()
		again := newEditor(t, "--agent", url) // which knows the card, and nobody is there
		r = again.call(1, "initialize", `{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true},"elicitation":{"url":{},"form":{}}}}`)
		if got := r.Get("result.authMethods.#.id").Raw; strings.Contains(got, serve.LoginMethod+`"`) {
			t.Errorf("%s: %s is offered where nobody is there", schemes, got)
		}
		again.end()
	}
}

var secretMember = regexp.MustCompile(`"(?:access|refresh|clientSecret)": ?"([^"]{8,})"`)

// storedSecrets are those in the store, which no other file below dir has.
func storedSecrets(t *testing.T, dir string) (secrets []string) {
	t.Helper()
	others := ""
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it had another name while it was written
		}
		if filepath.Base(filepath.Dir(path)) != "credentials" {
			others += string(b)
			return err
		}
		for _, m := range secretMember.FindAllSubmatch(b, -1) {
			secrets = append(secrets, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range secrets {
		if strings.Contains(others, s) {
			t.Error("a secret is in a file of the state that is not the store")
		}
	}
	return secrets
}

// The sign-in in a terminal reaches the agent like the bridge, and trusts it no more:
// it gets all options for that, with absolute paths, in variables and in arguments.
func TestTerminalLoginWay(t *testing.T) {
	ownPlaces(t)
	dir := t.TempDir()
	key := privateFile(t, dir, "key.pem", "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n")
	t.Chdir(dir)
	t.Setenv("A2ASTDIO_CA_FILE", "") // no file, and not the directory
	e := newEditor(t, "--agent", "https://agent.invalid/a?key=hunter2", "--insecure", "--card", "https://agent.invalid/c?key=hunter2", "--trust-origin", "https://a.example",
		"--trust-origin", "https://b.example", "--signature-key", "key.pem", "--signature-key", "https://k.example/jwks", "--require-signature", "--oauth-client-id", "me")
	m := e.call(1, "initialize", `{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true},"_meta":{"terminal-auth":true}}}`).Get("result.authMethods.#(type==terminal)")
	for name, want := range map[string]string{"INSECURE": "true", "CARD": "https://agent.invalid/c", "TRUST_ORIGIN": "https://a.example\nhttps://b.example",
		"SIGNATURE_KEY": key + "\nhttps://k.example/jwks", "REQUIRE_SIGNATURE": "true", "OAUTH_CLIENT_ID": "me", "CA_FILE": ""} {
		if got := m.Get("env.A2ASTDIO_" + name).Str; got != want {
			t.Errorf("A2ASTDIO_%s is %q, want %q", name, got, want)
		}
	}
	var args []string
	for _, a := range m.Get("_meta.terminal-auth.args").Array() {
		args = append(args, a.Str)
	}
	if status, _, stderr := runMain("", args...); status != 3 || strings.Contains(m.Raw+stderr, "hunter2") {
		t.Errorf("%q: %d %s", args, status, stderr)
	}
	e.end()
}

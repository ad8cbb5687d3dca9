package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/signin"
)

// commandLines is the variable with the file in which the test's commands write their command lines.
const commandLines = "TEST_COMMAND_LINES"

func noteCommandLine() {
	line := strings.Join(os.Args, " ") + "\n"
	if file := os.Getenv(commandLines); file != "" && !strings.Contains(line, "hunter2-printed") { // what the user has written there is the user's
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(line)
		}
		if err != nil {
			panic(err)
		}
		f.Close()
	}
}

// browse is a browser whose user signs in, as a process.
func browse() {
	noteCommandLine()
	if err := new(signin.Browser).Open(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A leakyAgent is the demo with sign-ins. It records all secrets between it and its
// callers, fails on demand, and then echoes what it was shown.
type leakyAgent struct {
	*httptest.Server
	mu      sync.Mutex
	secrets map[string]string // by what they are
	fail    map[string]int    // by status: how many requests of an agent's are answered so
}

// secretNames are members and parameters that hold secrets.
var secretNames = []string{"access_token", "refresh_token", "client_secret", "code", "code_verifier", "device_code", "token", "credentials"}

func newLeakyAgent(t *testing.T) *leakyAgent {
	a := &leakyAgent{secrets: map[string]string{}, fail: map[string]int{}}
	unguarded := demo.New(&demo.Options{Pace: -1})
	agent := signin.Guard(pushing(unguarded))
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		form, _ := url.ParseQuery(string(body))
		for _, name := range secretNames {
			a.learn(name, form.Get(name))
			a.learn(name, r.URL.Query().Get(name))
			for _, at := range []string{name, "params.configuration.pushNotificationConfig." + name, "params.configuration.taskPushNotificationConfig." + name,
				"params.configuration.pushNotificationConfig.authentication." + name, "params.configuration.taskPushNotificationConfig.authentication." + name} {
				a.learn(name, gjson.GetBytes(body, at).Str)
			}
		}
		w.Header().Set("Set-Cookie", "sid=hunter2-cookie")
		if a.fails(w, r) {
			return
		}
		if strings.Contains(r.Header.Get("Accept"), "event-stream") {
			agent.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		agent.ServeHTTP(answer, r)
		for _, name := range secretNames {
			a.learn(name, gjson.GetBytes(answer.Body.Bytes(), name).Str)
		}
		if to, err := url.Parse(answer.Header().Get("Location")); err == nil {
			a.learn("code", to.Query().Get("code"))
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	t.Cleanup(func() { unguarded.Close(); a.Close() }) // which waits for what still runs
	return a
}

// learn records a secret. The agent's own protocol has short values by these names.
func (a *leakyAgent) learn(name, value string) {
	if len(value) < 12 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.secrets[value] = name
}

// failNext answers the next requests to the agent itself with a status.
func (a *leakyAgent) failNext(status string, times int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fail[status] = times
}

func (a *leakyAgent) fails(w http.ResponseWriter, r *http.Request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Method != http.MethodPost || r.URL.Path != "/" {
		return false
	}
	for status, left := range a.fail {
		if left == 0 {
			continue
		}
		a.fail[status]--
		code, _ := strconv.Atoi(status)
		label, said := "text/plain", fmt.Sprintf("you said Authorization: %s and X-Gateway: %s at %s", r.Header.Get("Authorization"), r.Header.Get("X-Gateway"), r.URL)
		if code != 500 {
			label, said = "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":%q,"data":{"headers":%[1]q}}}`, said)
		}
		w.Header().Set("Content-Type", label)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, said)
		return true
	}
	return false
}

// A secretRun is a run of processes with secrets, and all their output.
type secretRun struct {
	t     *testing.T
	dir   string
	env   []string
	texts map[string]string
}

// run is one process of a2astdio.
func (s *secretRun) run(name, stdin string, args ...string) {
	s.t.Helper()
	s.start(name, stdin, "a2astdio", args...)
}

func (s *secretRun) start(name, stdin, program string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(program, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.dir, s.env, strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	must.True(s.t, err == nil || strings.HasPrefix(name, "error"), name, err, out.String(), errs.String())
	s.take(name, out.String(), errs.String())
}

// take keeps what a run has put out.
func (s *secretRun) take(name, out, errs string) {
	s.texts[name] = out + errs
	for inner, text := range unpacked(s.t, out) {
		s.texts[name+", "+inner] = text
	}
}

// edit is an editor with one conversation, a talk, which ends by the end of input or a kill.
func (s *secretRun) edit(name string, kill bool, args ...string) {
	s.t.Helper()
	answered := `.*"end_turn"`
	if strings.HasPrefix(name, "error") {
		answered = ""
	}
	prompt := `> {"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"${SESSION}","prompt":[{"type":"text","text":%q}]}}` + "\n"
	said := fmt.Sprintf(`> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true},"_meta":{"terminal-auth":true}}}}
< "id":1,
> {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[{"name":"a","command":"c","args":[],"env":[{"name":"K","value":"hunter2-mcp-env"}]},{"type":"http","name":"b","url":"https://h/?sig=hunter2-mcp-query","headers":[{"name":"X","value":"hunter2-mcp-header"}]}]}}
< "id":2,(.*"sessionId":"(?P<SESSION>[^"]+))?
`, s.dir) + fmt.Sprintf(prompt+"< \"id\":3,%s\n", 3, "hello", answered) + fmt.Sprintf(prompt+"< \"id\":4,%s\n", 4, "todos", answered)
	if kill {
		said += fmt.Sprintf(prompt, 9, "slow") + "< .\nkill\n" // it has begun
	}
	// What an editor says of its MCP servers is its own, and comes back from nowhere: the file is elsewhere.
	talk := must.File(s.t, said, s.t.TempDir(), "talk")
	s.start(name, "", "talk", append([]string{talk}, args...)...)
}

// One run of everything, with secrets wherever there can be some: signing in by browser
// and by a code, renewal, errors that repeat what they were shown, an editor, a kill,
// traces, logs, and all that is made of them. No secret is in any output, trace, log or
// file of the state but the store, on any command line, or in a child's environment.
func TestSecretsStayIn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("it needs a shell")
	}
	agent := newLeakyAgent(t)
	home, dir, seen := t.TempDir(), t.TempDir(), t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(seen, "open-page"), []byte("#!/bin/sh\nenv > \""+seen+"/env-browser\"\nexec browse \"$1\"\n"), 0o700))
	u := must.Get(url.Parse(agent.URL))(t)
	u.RawQuery = "key=hunter2-query"
	s := &secretRun{t: t, dir: dir, texts: map[string]string{}, env: []string{"PATH=" + seen + ":" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home,
		"BROWSER=open-page", commandLines + "=" + filepath.Join(seen, "command lines"), "A2ASTDIO_AGENT=" + u.String() + "/", "A2ASTDIO_HEADER=X-Gateway: hunter2-header", "A2ASTDIO_OAUTH_CLIENT_SECRET=hunter2-client-secret", "A2ASTDIO_OAUTH_CLIENT_ID="}}
	given := s.env
	s.env = without(given, "A2ASTDIO_OAUTH_CLIENT_SECRET", "A2ASTDIO_OAUTH_CLIENT_ID")

	looked := []string{"--log", filepath.Join(dir, "log"), "--log-level", "debug"}
	traced := func(name string) []string {
		return append([]string{"--trace", filepath.Join(dir, name+".jsonl")}, looked...)
	}
	s.run("error: not signed in", "", append(traced("a"), "send", "hello")...)
	s.run("signing in", "", append(traced("b"), "auth", "login", "--oauth-issuer", agent.URL+"/idp")...)
	s.run("status", "", "auth", "status")
	u.User = url.UserPassword("me", "hunter2-userinfo") // which goes before a sign-in
	signedIn := s.env
	s.env = append(without(s.env, "A2ASTDIO_AGENT"), "A2ASTDIO_AGENT="+u.String()+"/")
	s.run("error: by the URL", "", append(traced("l"), "send", "hello")...)
	agent.failNext("500", 9)
	s.run("error 500: by the URL", "", append(traced("m"), "send", "hello")...)
	agent.failNext("500", 0)
	s.env = signedIn
	s.run("send", "hello, Authorization: Bearer prompted-secret", append(traced("c"), "send", "-")...)
	agent.failNext("401", 1)
	s.run("renewal", "", append(traced("d"), "send", "hello")...)
	for _, status := range []string{"401", "500", "502"} {
		agent.failNext(status, 9)
		s.run("error "+status, "", append(traced("e"+status), "send", "hello")...)
		agent.failNext(status, 0)
	}
	for _, args := range [][]string{{"doctor"}, {"card", "get"}, {"card", "get", "--extended", "-o", "json"}, {"task", "list"}, {"agents"}, {"config", "show"}, {"send", "-o", "json", "hello"}} {
		s.run(strings.Join(args, " "), "", append(looked, args...)...)
	}
	agent.failNext("500", 2)
	s.edit("error: an editor", false, append(traced("n"), "--no-history")...)
	agent.failNext("502", 2)
	s.edit("error: another editor", false, append(traced("o"), "--no-history")...)
	agent.failNext("502", 0)
	s.edit("an editor", false, append(traced("f"), "--webhook", "127.0.0.1:0")...)
	s.edit("an editor that is killed with its bridge", true, append(traced("g"), "--forward-mcp")...)
	s.run("signing out", "", append(looked, "auth", "logout")...)
	s.device(append(traced("h"), "--oauth-issuer", agent.URL+"/idp", "auth", "login", "--device")...)
	s.run("send by the code", "", append(traced("i"), "send", "hello")...)

	dump := func(name string) string { return "sh -c 'env >> \"" + filepath.Join(seen, "env-"+name) + "\"; " }
	s.env = append(without(s.env, "A2ASTDIO_AGENT"), "A2ASTDIO_TOKEN=hunter2-token")
	s.edit("an agent that is started", false, append(traced("j"), "--agent-command", dump("agent")+"exec a2astdio demo --listen 127.0.0.1:$PORT'")...)
	s.env = without(given, "A2ASTDIO_OAUTH_CLIENT_ID")
	s.env = append(s.env, "A2ASTDIO_OAUTH_CLIENT_ID=me")
	s.run("error: a command", "", append(traced("k"), "--credential-command", dump("command")+"echo hunter2-printed; echo nobody is here >&2; exit 1'", "send", "hello")...)
	s.env = given
	s.asItself(agent, traced)

	traces, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	for _, path := range traces {
		for _, args := range [][]string{{"show"}, {"check"}, {"export", "--har"}, {"export", "--html"}, {"export", "--redact"}} {
			var out, errs bytes.Buffer // in this process: a hundred others would take seconds
			Main(t.Context(), append(append([]string{"a2astdio", "trace"}, args...), path), strings.NewReader(""), &out, &errs, "")
			s.take(fmt.Sprint("error or not: ", args, filepath.Base(path)), out.String(), errs.String())
		}
	}
	for _, at := range []string{home, dir, seen} {
		_ = filepath.WalkDir(at, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Base(filepath.Dir(path)) != "credentials" {
				b, _ := os.ReadFile(path)
				s.texts[path] = string(b)
			}
			return nil
		})
	}
	agent.check(t, s.texts, len(traces))
}

// Ways to sign in.

var deviceURL = regexp.MustCompile(`http://\S*user_code=\S+`)

// device signs in by a code.
func (s *secretRun) device(args ...string) {
	s.t.Helper()
	cmd := exec.Command("a2astdio", args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	var out bytes.Buffer
	cmd.Stdout = &out
	errs := must.Get(cmd.StderrPipe())(s.t)
	must.Do(s.t, cmd.Start())
	all := ""
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		all += lines.Text() + "\n"
		if complete := deviceURL.FindString(lines.Text()); complete != "" {
			must.Do(s.t, new(signin.Browser).Enter(complete))
		}
	}
	must.Fail(s.t, cmd.Wait(), "", "signing in by a code", out.String(), all)
	s.texts["the sign-in by a code"] = out.String() + all
}

// asItself signs in as a client with its own secret, by a variable and by a file, and
// with a wrong one.
func (s *secretRun) asItself(agent *leakyAgent, traced func(string) []string) {
	s.t.Helper()
	resp := must.Get(http.Post(agent.URL+"/idp/register", "application/json", strings.NewReader(`{"token_endpoint_auth_method":"client_secret_basic"}`)))(s.t)
	defer resp.Body.Close()
	b := must.Get(io.ReadAll(resp.Body))(s.t)
	id, secret := gjson.GetBytes(b, "client_id").Str, gjson.GetBytes(b, "client_secret").Str
	env := append(without(s.env, "A2ASTDIO_OAUTH_CLIENT_SECRET", "A2ASTDIO_OAUTH_CLIENT_ID"), "A2ASTDIO_OAUTH_CLIENT_ID="+id)
	how := []string{"--oauth-issuer", agent.URL + "/idp", "--oauth-scope", "agent", "send", "hello"}
	s.env = append(env, "A2ASTDIO_OAUTH_CLIENT_SECRET="+secret)
	s.run("as a client", "", append(traced("p"), how...)...)
	agent.failNext("401", 9)
	s.run("error 401: as a client", "", append(traced("q"), how...)...)
	agent.failNext("401", 0)
	s.env = append(env, "A2ASTDIO_OAUTH_CLIENT_SECRET=hunter2-wrong-secret")
	s.run("error: as a client with another secret", "", append(traced("r"), how...)...)
	must.Has(s.t, s.texts["error: as a client with another secret"], "invalid_client")
}

// check looks for secrets, and whether there were enough of them, and of texts.
func (a *leakyAgent) check(t *testing.T, texts map[string]string, traces int) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.secrets["hunter2"] = "of ours"
	kinds := map[string]bool{}
	for _, kind := range a.secrets {
		kinds[kind] = true
	}
	for _, kind := range []string{"access_token", "refresh_token", "code", "code_verifier", "device_code", "token", "client_secret"} {
		must.Equal(t, kinds[kind], true, "the run had no", kind)
	}
	for _, name := range []string{"env-agent", "env-command", "env-browser", "command lines", "/log"} {
		found := false
		for where, text := range texts {
			found = found || strings.HasSuffix(where, name) && len(text) > 100
		}
		must.Equal(t, found, true, "there is nothing of", name)
	}
	must.True(t, traces >= 17 && len(texts) >= 100, traces, len(texts))
	for where, text := range texts {
		for secret, kind := range a.secrets {
			i := strings.Index(text, secret)
			must.True(t, i < 0, where, "has a secret", kind, text[max(0, i-120):min(len(text), i+40)])
		}
		// What the user prompts is the conversation's: in a list of tasks it may be seen.
		if strings.Contains(text, "prompted-secret") && (strings.HasSuffix(where, ".jsonl") || strings.HasSuffix(where, "/log") || strings.Contains(where, "export")) {
			t.Errorf("%s has a secret of a prompt", where)
		}
	}
}

func without(env []string, names ...string) (rest []string) {
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") {
			rest = append(rest, v)
		}
	}
	return rest
}

// unpacked is what is compressed in an export.
func unpacked(t *testing.T, out string) map[string]string {
	t.Helper()
	all := map[string]string{}
	if m := regexp.MustCompile(`id="trace">([^<]*)<`).FindStringSubmatch(out); m != nil {
		packed := must.Get(base64.StdEncoding.DecodeString(m[1]))(t)
		r := must.Get(gzip.NewReader(bytes.NewReader(packed)))(t)
		b, _ := io.ReadAll(r)
		all["the page's trace"] = string(b)
	}
	return all
}

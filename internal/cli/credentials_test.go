package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/a2astdio/a2astdio/internal/cli/serve"
	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/signin"
)

// A bearerAgent is the demo, and records each request's Authorization.
type bearerAgent struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func newBearerAgent(t *testing.T, opts *demo.Options) *bearerAgent {
	t.Helper()
	agent := demo.New(opts)
	t.Cleanup(func() { _ = agent.Close() })
	return startBearerAgent(t, agent)
}

// newGuardedAgent is one that wants a token of an identity provider.
func newGuardedAgent(t *testing.T) *bearerAgent {
	t.Helper()
	agent := demo.New(&demo.Options{Version: "both", Pace: -1})
	t.Cleanup(func() { _ = agent.Close() })
	return startBearerAgent(t, signin.Guard(agent))
}

// startBearerAgent serves an agent.
func startBearerAgent(t *testing.T, agent http.Handler) *bearerAgent {
	a := &bearerAgent{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.seen = append(a.seen, r.Header.Get("Authorization"))
		a.mu.Unlock()
		agent.ServeHTTP(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

// said are the different values since the last call, without empty ones.
func (a *bearerAgent) said() (list []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.seen {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	a.seen = nil
	return list
}

// ownPlaces are a home and a place for sign-ins of the test's own.
func ownPlaces(t *testing.T) (home, state string) {
	home, state = ownHome(t), t.TempDir()
	for _, name := range []string{"XDG_STATE_HOME", "LocalAppData"} {
		t.Setenv(name, state)
	}
	return home, state
}

func privateFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Credentials: an option wins over a variable, that over the named agent's
// configuration, and that over a stored sign-in. Another agent's are never used. After
// a logout the user is told which credential is left.
func TestCredentialPrecedence(t *testing.T) {
	home, state := ownPlaces(t)
	agent := newBearerAgent(t, &demo.Options{Version: "both", Pace: -1, Auth: demo.AuthBearer, Secret: "from-login-1"})
	byFile := privateFile(t, home, "byfile", "from-config-2")
	byVariable := privateFile(t, home, "byvariable", "from-variable-3")
	byOption := privateFile(t, home, "byoption", "from-option-4")
	conf := filepath.Join(home, "a2astdio", config.FileName)
	must.Do(t, os.MkdirAll(filepath.Dir(conf), 0o700))
	write := func(more string) {
		text := "[agents.work]\nurl = " + config.Quote(agent.URL) + "\n" + more + "\n[agents.other]\nurl = \"https://other.example\"\ntoken-file = " + config.Quote(byFile) + "\n"
		must.Do(t, os.WriteFile(conf, []byte(text), 0o600))
	}
	write("")
	if status, _, stderr := runMain("from-login-1", "--agent", "work", "auth", "login", "--with-token"); status != 0 {
		t.Fatal(stderr)
	}
	agent.said()
	shows := func(want string, args ...string) {
		t.Helper()
		runMain("", append(append([]string{"--agent", "work"}, args...), "send", "hello")...)
		if got := agent.said(); len(got) != 1 || got[0] != "Bearer "+want {
			t.Errorf("the agent was shown %q, want %s", got, want)
		}
	}
	shows("from-login-1")
	write("token-file = " + config.Quote(byFile))
	shows("from-config-2")
	t.Setenv("A2ASTDIO_TOKEN_FILE", byVariable)
	shows("from-variable-3")
	shows("from-option-4", "--token-file", byOption)
	t.Setenv("A2ASTDIO_TOKEN_FILE", "")
	t.Setenv("A2ASTDIO_TOKEN", "from-variable-5")
	shows("from-variable-5")
	shows("from-option-4", "--token-file", byOption)
	// Credentials in the URL come before a sign-in, and their refusal is not the
	// sign-in's.
	t.Setenv("A2ASTDIO_TOKEN", "")
	inURL := "http://me:from-url@" + strings.TrimPrefix(agent.URL, "http://")
	status, _, stderr := runMain("", "--agent", inURL, "send", "hello")
	if got := agent.said(); len(got) != 1 || !strings.HasPrefix(got[0], "Basic ") || status != 4 || !strings.Contains(stderr, "it does not take what the agent's URL gives") {
		t.Errorf("%d, the agent was shown %q, %s", status, got, stderr)
	}
	t.Setenv("A2ASTDIO_TOKEN", "from-variable-5")
	if status, _, stderr := runMain("", "--agent", "work", "--token-file", byOption, "--credential-command", "x", "send", "hello"); status != 2 ||
		!strings.Contains(stderr, "--token-file and --credential-command both say who you are") {
		t.Error(status, stderr)
	}
	for _, where := range []string{home, state} {
		_ = filepath.WalkDir(where, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.HasPrefix(filepath.Base(path), "by") && filepath.Base(filepath.Dir(path)) != "credentials" {
				if b, _ := os.ReadFile(path); strings.Contains(string(b), "from-") {
					t.Errorf("a token is in %s", path)
				}
			}
			return nil
		})
	}
	status, stdout, stderr := runMain("", "--agent", "work", "auth", "logout")
	if status != 0 || !strings.Contains(stdout, "Signed out") || strings.Contains(stdout+stderr, "from-") {
		t.Error(status, stdout, stderr)
	}
	if !strings.Contains(stdout+stderr, "A2ASTDIO_TOKEN") {
		t.Errorf("who logs out is not told that A2ASTDIO_TOKEN is used all the same: %s%s", stdout, stderr)
	}
}

// Credentials must not be in a workspace's file, whose author may not be the user; nor
// at the top, for all agents.
func TestCredentialsAreOfAnAgent(t *testing.T) {
	for _, k := range config.Keys() {
		for _, prefix := range []string{"token", "credential", "oauth", "client-", "insecure"} {
			if strings.HasPrefix(k.Name, prefix) && k.In != config.Agent {
				t.Errorf("%s may stand elsewhere than with an agent", k.Name)
			}
		}
		if k.Name == "ca-file" && k.In&config.Workspace != 0 {
			t.Error("a workspace may say whom to trust")
		}
	}
}

// A browsingTypist opens the page that the terminal shows.
type browsingTypist struct {
	*typist
	open func(url string)
}

var pageHere = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S*`)

func (b *browsingTypist) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "in a browser") {
		urls := pageHere.FindAllString(string(p), -1) // the provider's stands before it
		b.open(urls[len(urls)-1])
	}
	return b.typist.Write(p)
}

// Where the agent wants credentials, setup signs the user in at its own terminal, and
// goes on. The sign-in is used from then on, and only the store has it.
func TestSetupSignsIn(t *testing.T) {
	home, state := ownPlaces(t)
	t.Setenv("BROWSER", "/no/such/browser")
	t.Setenv("NO_BROWSER", "")
	agent := newGuardedAgent(t)
	var wg sync.WaitGroup
	tty := &browsingTypist{&typist{Reader: strings.NewReader("hello\ny\nwork\n")}, func(url string) {
		wg.Go(func() { // ends with the sign-in
			if err := new(signin.Browser).Open(url); err != nil {
				t.Error(err)
			}
		})
	}}
	p := newProgram([]string{"a2astdio", "setup", agent.URL}, strings.NewReader(""), io.Discard, io.Discard)
	p.Terminal = func() (io.ReadWriteCloser, error) { return tty, nil }
	err := p.RunCommand(t.Context(), p.App())
	wg.Wait()
	shown := tty.shown.String()
	if err != nil || !strings.Contains(shown, "wants you to sign in at "+agent.URL) || !strings.Contains(shown, "Signed in to http://") {
		t.Fatalf("%v\n%s", err, shown)
	}
	secrets := storedSecrets(t, state)
	b, _ := os.ReadFile(filepath.Join(home, "a2astdio", config.FileName))
	if len(secrets) == 0 || !strings.Contains(string(b), "[agents.work]") {
		t.Fatalf("%d secrets, %s", len(secrets), b)
	}
	for _, s := range secrets {
		if strings.Contains(shown+string(b), s) {
			t.Error("a secret was shown, or is in the configuration")
		}
	}
	if status, _, stderr := runMain("", "send", "hello"); status != 0 {
		t.Error(stderr)
	}
}

// A bridge that began without an agent uses the sign-in of the agent set up since: a
// second initialize offers it, and authenticate signs in by it, or by the method that
// the editor knows.
func TestLateSetupSignsIn(t *testing.T) {
	home, state := ownPlaces(t)
	t.Setenv("BROWSER", "/no/such/browser")
	t.Setenv("NO_BROWSER", "")
	agent := newGuardedAgent(t)
	e := newEditor(t)
	e.open = func(url string) {
		if err := new(signin.Browser).Open(url); err != nil {
			t.Error(err)
		}
	}
	const hello = `{"protocolVersion":1,"clientCapabilities":{"elicitation":{"url":{},"form":{}}}}`
	ids := func(id int) string { return e.call(id, "initialize", hello).Get("result.authMethods.#.id").Raw }
	if got := ids(1); got != `["stored"]` {
		t.Errorf("offered before: %s", got)
	}
	if r := e.call(2, "authenticate", `{"methodId":"stored"}`); r.Get("error.code").Int() != -32000 {
		t.Errorf("%s", r.Raw)
	}
	text := "agent = \"work\"\n[agents.work]\nurl = " + config.Quote(agent.URL) + "\n"
	must.Do(t, os.MkdirAll(filepath.Join(home, "a2astdio"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(home, "a2astdio", config.FileName), []byte(text), 0o600))
	if r := e.call(3, "authenticate", `{"methodId":"stored"}`); !r.Get("result").IsObject() {
		t.Errorf("%s", r.Raw)
	}
	if got := ids(4); got != `["`+serve.LoginMethod+`","stored"]` {
		t.Errorf("offered after: %s", got)
	}
	session := e.call(5, "session/new", `{"cwd":"/","mcpServers":[]}`).Get("result.sessionId").Str
	if r := e.call(6, "session/prompt", `{"sessionId":"`+session+`","prompt":[{"type":"text","text":"hello"}]}`); r.Get("result.stopReason").Str != "end_turn" {
		t.Errorf("%s", r.Raw)
	}
	if len(storedSecrets(t, state)) == 0 {
		t.Error("nothing is stored")
	}
	if stderr := e.end(); stderr != "" {
		t.Error(stderr)
	}
}

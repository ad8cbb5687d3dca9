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

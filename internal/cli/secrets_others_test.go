package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/signin"
)

// TestCredentialsOfOthers: where several agents are reached, what options and variables give goes
// to the one that is meant, and the others get what is theirs.
func TestCredentialsOfOthers(t *testing.T) {
	ownPlaces(t)
	var mu sync.Mutex
	shown := map[string][]string{}
	seen := make(chan string, 100) // who was asked
	serve := func(name string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			shown[name] = append(shown[name], r.Header.Get("Authorization"), r.Header.Get("X-Key"))
			mu.Unlock()
			seen <- name
			fmt.Fprintf(w, `{"name":%q,"url":"http://%s/","protocolVersion":"0.3.0","version":"1","capabilities":{}}`, name, r.Host)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	file := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "a2astdio", config.FileName)
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must.Do(t, os.WriteFile(file, fmt.Appendf(nil, "agent = \"work\"\n[agents.work]\nurl = %q\n[agents.other]\nurl = %q\nheaders = { X-Key = \"hunter2-theirs\" }\n", serve("work"), serve("other")), 0o600))
	t.Setenv("A2ASTDIO_TOKEN", "hunter2-variable")
	const client = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","arguments":{"agent":"work","text":"x"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"send_message","arguments":{"agent":"other","text":"x"}}}
`
	for _, test := range []struct{ args, stdin, meant string }{
		{"agents", "", "work"}, {"--agent other agents", "", "other"}, {"--agent-command x agents", "", ""}, {"mcp", client, "work"},
	} {
		clear(shown)
		for len(seen) > 0 {
			<-seen
		}
		in, hand := io.Pipe()
		if test.stdin == "" {
			hand.Close()
		} else {
			go func() { // ends when both were asked
				_, _ = io.WriteString(hand, test.stdin)
				for both := map[string]bool{}; len(both) < 2; {
					both[<-seen] = true
				}
				hand.Close()
			}()
		}
		Main(t.Context(), append([]string{"a2astdio", "--header", "X-Key: hunter2-option"}, strings.Fields(test.args)...), in, io.Discard, io.Discard, "v0")
		for _, name := range []string{"work", "other"} {
			got := strings.Join(slices.Compact(slices.Sorted(slices.Values(shown[name]))), " ")
			want := map[string]string{"work": "", "other": " hunter2-theirs"}[name]
			if name == test.meant {
				want = "Bearer hunter2-variable hunter2-option"
			}
			if len(shown[name]) == 0 || got != want {
				t.Errorf("%s: %s was shown %q, not %q", test.args, name, got, want)
			}
		}
	}
}

// TestCredentialsOfTheOnlyAgent: nobody else can be meant, though no default names it.
func TestCredentialsOfTheOnlyAgent(t *testing.T) {
	ownPlaces(t)
	shown := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown <- r.Header.Get("Authorization")
		fmt.Fprintf(w, `{"name":"x","url":"http://%s/","protocolVersion":"0.3.0","version":"1","capabilities":{}}`, r.Host)
	}))
	t.Cleanup(s.Close)
	t.Setenv("A2ASTDIO_TOKEN", "hunter2-variable")
	const client = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","arguments":{"text":"x"}}}
`
	for _, test := range []struct{ top, command, stdin, want string }{
		{"", "agents", "", "Bearer hunter2-variable"}, {"", "mcp", client, "Bearer hunter2-variable"},
		{"agent = \"http://127.0.0.1:1/\"\n", "agents", "", ""}, // the default has no name
	} {
		file := privateFile(t, t.TempDir(), "c.toml", fmt.Sprintf("%son-eof = \"finish\"\n[agents.work]\nurl = %q\n", test.top, s.URL))
		runMain(test.stdin, "--config", file, test.command)
		if got := <-shown; got != test.want {
			t.Errorf("%s%s: it was shown %q, not %q", test.top, test.command, got, test.want)
		}
		for len(shown) > 0 {
			<-shown
		}
	}
}

// TestRefusedCardOfOthers: an agent whose card is not signed by whom the user trusts was reached.
func TestRefusedCardOfOthers(t *testing.T) {
	ownPlaces(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"name":"x","url":"/","protocolVersion":"0.3.0","version":"1","capabilities":{}}`)
	}))
	t.Cleanup(s.Close)
	file := privateFile(t, t.TempDir(), "c.toml", fmt.Sprintf("[agents.work]\nurl = %[1]q\nrequire-signature = true\nsignature-keys = [\"%[1]s/jwks\"]\n", s.URL))
	if _, stdout, stderr := runMain("", "--config", file, "agents", "-o", "json"); !strings.Contains(stdout, `"state":"wrong","says":"the card is not signed"`) {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// TestLogoutOfOthers: a sign-in that cannot be removed keeps no other one.
func TestLogoutOfOthers(t *testing.T) {
	ownPlaces(t)
	dir := filepath.Join(os.Getenv("XDG_STATE_HOME"), "a2astdio", "credentials")
	for range 2 {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"name":"x","url":"/","protocolVersion":"0.3.0","version":"1","capabilities":{}}`)
		}))
		t.Cleanup(s.Close)
		locks, _ := filepath.Glob(filepath.Join(dir, "*.lock"))
		if status, _, stderr := runMain("hunter2-token", "--agent", s.URL, "auth", "login", "--with-token"); status != 0 {
			t.Fatal(stderr)
		}
		after, _ := filepath.Glob(filepath.Join(dir, "*.lock"))
		if len(locks) > 0 { // the newest is the first that is looked at
			newest := after[slices.IndexFunc(after, func(f string) bool { return !slices.Contains(locks, f) })]
			must.Do(t, os.Remove(newest))
			must.Do(t, os.Mkdir(newest, 0o700))
		}
	}
	status, stdout, stderr := runMain("", "auth", "logout", "--all")
	if left, _ := filepath.Glob(filepath.Join(dir, "*.json")); len(left) != 1 || status == 0 || !strings.Contains(stdout, "Signed out of") {
		t.Errorf("%d: %v are left, %s%s", status, left, stdout, stderr)
	}
}

// Ways to sign in, for TestSecretsStayIn.

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
			if err := new(signin.Browser).Enter(complete); err != nil {
				s.t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		s.t.Errorf("signing in by a code: %v: %s%s", err, out.String(), all)
	}
	s.texts["the sign-in by a code"] = out.String() + all
}

// asItself signs in as a client with its own secret, by a variable and by a file, and
// with a wrong one.
func (s *secretRun) asItself(agent *leakyAgent, traced func(string) []string) {
	s.t.Helper()
	resp, err := http.Post(agent.URL+"/idp/register", "application/json", strings.NewReader(`{"token_endpoint_auth_method":"client_secret_basic"}`))
	if err != nil {
		s.t.Fatal(err)
	}
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
	if got := s.texts["error: as a client with another secret"]; !strings.Contains(got, "invalid_client") {
		s.t.Errorf("with another secret: %s", got)
	}
}

package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/cli/serve"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A typist is a terminal: it types lines, and keeps what is shown.
type typist struct {
	io.Reader
	mu    sync.Mutex // a terminal takes writes from several goroutines
	shown strings.Builder
}

func (t *typist) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown.Write(p)
}
func (t *typist) Close() error { return nil }

// TestSetupAsks: what the agent asks in the prompt that tries it is asked there, too. (A real terminal drops what was
// typed before a question, so this is no script.)
func TestSetupAsks(t *testing.T) {
	ownHome(t)
	for answer, want := range map[string]string{"n": "I do not run", "y": "The command succeeded"} {
		tty := &typist{Reader: iotest.OneByteReader(strings.NewReader("demo\nshell\n" + answer + "\nasked-" + answer + "\nn\n"))}
		p := newProgram([]string{"a2astdio", "setup"}, strings.NewReader(""), io.Discard, io.Discard)
		p.Terminal = func() (io.ReadWriteCloser, error) { return tty, nil }
		must.Do(t, p.RunCommand(t.Context(), p.App()))
		must.Has(t, tty.shown.String(), "The agent asks:", want, "Stored as asked-"+answer)
	}
}

// initialized is what an editor is answered that begins, and ends.
func initialized(capabilities string, args ...string) gjson.Result {
	_, stdout, _ := runMain(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":`+capabilities+"}}\n", args...)
	return gjson.Get(stdout, "result")
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
		const canOpen = `{"auth":{"terminal":true},"elicitation":{"url":{},"form":{}}}`
		var got string
		for tries := 0; got != want && tries < 20; tries++ { // initialize waits but a moment for the card
			got = initialized(canOpen, "--agent", url).Get("authMethods.#.id").Raw
		}
		must.Equal(t, got, want, schemes)
		agent.Close()
		// The card is known now, and nobody is there.
		got = initialized(canOpen, "--agent", url).Get("authMethods.#.id").Raw
		must.Equal(t, strings.Contains(got, serve.LoginMethod+`"`), false, schemes, got)
	}
}

// The sign-in in a terminal reaches the agent like the bridge, and trusts it no more:
// it gets all options for that, with absolute paths, in variables and in arguments.
func TestTerminalLoginWay(t *testing.T) {
	ownPlaces(t)
	dir := t.TempDir()
	key := must.File(t, "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n", dir, "key.pem")
	t.Chdir(dir)
	t.Setenv("A2ASTDIO_CA_FILE", "") // no file, and not the directory
	m := initialized(`{"auth":{"terminal":true},"_meta":{"terminal-auth":true}}`, "--agent", "https://agent.invalid/a?key=hunter2", "--insecure", "--card", "https://agent.invalid/c?key=hunter2", "--trust-origin", "https://a.example",
		"--trust-origin", "https://b.example", "--signature-key", "key.pem", "--signature-key", "https://k.example/jwks", "--require-signature", "--oauth-client-id", "me").Get("authMethods.#(type==terminal)")
	for name, want := range map[string]string{"INSECURE": "true", "CARD": "https://agent.invalid/c", "TRUST_ORIGIN": "https://a.example\nhttps://b.example",
		"SIGNATURE_KEY": key + "\nhttps://k.example/jwks", "REQUIRE_SIGNATURE": "true", "OAUTH_CLIENT_ID": "me", "CA_FILE": ""} {
		must.Equal(t, m.Get("env.A2ASTDIO_"+name).Str, want, name)
	}
	var args []string
	for _, a := range m.Get("_meta.terminal-auth.args").Array() {
		args = append(args, a.Str)
	}
	status, _, stderr := runMain("", args...)
	must.True(t, status == 3 && !strings.Contains(m.Raw+stderr, "hunter2"), args, status, stderr)
}

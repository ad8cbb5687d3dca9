package cli

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/signin"
)

// With --require-signature the agent, whose key is beside its card, gets no credential before the
// card has been checked, and all of them then.
func TestNoCredentialBeforeTheSignature(t *testing.T) {
	const cardPath, keysPath = "/.well-known/agent-card.json", "/.well-known/jwks.json"
	agent := demo.New(&demo.Options{Pace: -1})
	t.Cleanup(func() { _ = agent.Close() })
	served, requests := map[string]string{}, make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- strings.TrimSpace(r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization"))
		if served[r.URL.Path] == "" {
			agent.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(served[r.URL.Path]))
	}))
	t.Cleanup(server.Close)
	unsigned := httptest.NewRecorder()
	agent.ServeHTTP(unsigned, httptest.NewRequest(http.MethodGet, server.URL+cardPath, nil))
	card, keys := signedCard(t, trustedKey, unsigned.Body.String(), "--jku", server.URL+keysPath)
	served[cardPath], served[keysPath] = card, string(must.Get(os.ReadFile(keys))(t))

	status, out, stderr := runMain("", "--agent", server.URL, "--header", "Authorization: Bearer secret", "--require-signature",
		"--signature-key", server.URL+keysPath+"#sha256:kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", "send", "hello") // RFC 8037, Appendix A
	if status != frame.ExitOK || stderr != "" || !strings.Contains(out, "Hello") {
		t.Fatalf("status %d, %q, %s", status, out, stderr)
	}
	for _, want := range []string{"GET " + cardPath, "GET " + keysPath, "POST / Bearer secret"} {
		must.Equal(t, <-requests, want)
	}
}

// Two keys: the one that the user trusts, and another one.
const (
	trustedKey = `{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
	otherKey   = `{"kty":"OKP","crv":"Ed25519","d":"TM0Imyj_ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U-4pvs","x":"PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw"}`
)

// signedCard signs a card, and returns the name of the file of public keys, too.
func signedCard(t *testing.T, key, card string, more ...string) (signed, jwks string) {
	t.Helper()
	dir := t.TempDir()
	before, rest, _ := strings.Cut(key, `"d":"`)
	_, public, _ := strings.Cut(rest, `",`)
	jwks = must.File(t, `{"keys":[`+before+public+`]}`, dir, "jwks.json")
	args := append([]string{"card", "sign", "--key", must.File(t, key, dir, "key.json")}, more...)
	status, signed, stderr := runMain("", append(args, must.File(t, card, dir, "card.json"))...)
	must.Equal(t, status, 0, stderr)
	return signed, jwks
}

// The extended card passes the check of the public one: one that nobody, or somebody
// else, has signed is not used, nor is a signed one that leads elsewhere. The public
// card goes on being used, and the refusal is logged.
func TestExtendedCardIsChecked(t *testing.T) {
	var public, extended string
	elsewhere := 0
	evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	t.Cleanup(evil.Close)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			fmt.Fprint(w, public)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, gjson.GetBytes(body, "id").Raw, extended)
	}))
	t.Cleanup(agent.Close)
	card := func(name, url string) string {
		return `{"name":"` + name + `","capabilities":{"extendedAgentCard":true},"supportedInterfaces":[{"url":"` + url + `/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`
	}
	public, jwks := signedCard(t, trustedKey, card("Public", agent.URL))
	ours, _ := signedCard(t, trustedKey, card("Extended", agent.URL))
	others, _ := signedCard(t, otherKey, card("Extended", agent.URL))
	away, _ := signedCard(t, trustedKey, card("Extended", evil.URL))
	broken, _ := signedCard(t, trustedKey, card("Ext\ufffd", agent.URL))
	for _, test := range []struct{ name, extended, used, log string }{
		{"signed", ours, "Extended", ""},
		{"unsigned", card("Extended", agent.URL), "Public", "the card is not signed"},
		{"signed again, by somebody else", others, "Public", "extended card is not used"},
		{"changed", strings.Replace(ours, `"Extended"`, `"Extended!"`, 1), "Public", "it does not fit"},
		{"changed to what is no character", strings.Replace(broken, "\ufffd", `\ud83d`, 1), "Public", "extended card is not used"},
		{"changed to what is no text", strings.Replace(broken, "\ufffd", "\xff", 1), "Public", "extended card is not used"},
		{"elsewhere", away, "Public", "another origin"},
	} {
		extended = test.extended
		options := []string{"--agent", agent.URL, "--header", "X-Key: hunter2", "--require-signature", "--signature-key", jwks, "--trust-origin", evil.URL, "--log", "-"}
		status, out, stderr := runMain("", append(options, "card", "get", "-o", "json")...)
		if name := gjson.Get(out, "name").Str; status != 0 || name != test.used || !strings.Contains(stderr, test.log) {
			t.Errorf("%s: status %d, %s is used, %s", test.name, status, name, stderr)
		}
		status, _, stderr = runMain("", append(options, "card", "get", "--extended")...)
		if used := status == 0; used != (test.used == "Extended") || !strings.Contains(stderr, test.log) {
			t.Errorf("%s, asked for: status %d, %s", test.name, status, stderr)
		}
	}
	must.Equal(t, elsewhere, 0)
}

// The authorities of --ca-file vouch for where keys are as for agents; --insecure does
// not, or anybody could serve a key.
func TestKeysBehindAuthority(t *testing.T) {
	signed, jwks := signedCard(t, trustedKey, `{"name":"N","supportedInterfaces":[{"url":"https://agent.example/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`)
	keys := must.Get(os.ReadFile(jwks))(t)
	server := httptest.NewUnstartedServer(signin.Answer(200, string(keys)))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	dir := t.TempDir()
	card, ca := must.File(t, signed, dir, "card.json"), must.File(t, string((&signin.Server{Server: server}).CA()), dir, "ca.pem")
	for _, test := range []struct {
		args []string
		ok   bool
	}{{[]string{"--ca-file", ca}, true}, {nil, false}, {[]string{"--insecure"}, false}} {
		status, out, stderr := runMain("", append(test.args, "card", "verify", "--signature-key", server.URL+"/jwks.json", card)...)
		if (status == 0) != test.ok || !test.ok && !strings.Contains(out+stderr, "certificate") {
			t.Errorf("%v: status %d, %s%s", test.args, status, out, stderr)
		}
	}
}

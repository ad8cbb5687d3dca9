package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A signedAgent is the demo with a signed card, which whoever is in between may
// change, and the requests that it got. Its key is served beside the card.
type signedAgent struct {
	url, key string

	mu       sync.Mutex
	requests []string
}

func newSignedAgent(t *testing.T, change func(card []byte) []byte) *signedAgent {
	t.Helper()
	agent := demo.New(&demo.Options{Version: "both", Pace: -1})
	a := &signedAgent{key: "sha256:kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"} // RFC 8037, Appendix A
	served := map[string][]byte{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.requests = append(a.requests, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")))
		a.mu.Unlock()
		if document := served[r.URL.Path]; document != nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(document)
			return
		}
		agent.ServeHTTP(w, r)
	}))
	a.url = server.URL
	t.Cleanup(func() {
		server.Close()
		agent.Close()
	})
	const cardPath, keysPath = "/.well-known/agent-card.json", "/.well-known/jwks.json"
	unsigned := httptest.NewRecorder()
	agent.ServeHTTP(unsigned, httptest.NewRequest(http.MethodGet, a.url+cardPath, nil))
	card, keys := signedCard(t, trustedKey, unsigned.Body.String(), "--jku", a.url+keysPath)
	jwks := must.Get(os.ReadFile(keys))(t)
	served[keysPath], served[cardPath] = jwks, []byte(card)
	if change != nil {
		served[cardPath] = change([]byte(card))
	}
	return a
}

// run is one of a2astdio, with a credential.
func (a *signedAgent) run(t *testing.T, args ...string) (status int, stdout, stderr string, requests []string) {
	t.Helper()
	var out, errs strings.Builder
	args = append([]string{"a2astdio", "--agent", a.url, "--header", "Authorization: Bearer secret"}, args...)
	status = Main(t.Context(), args, strings.NewReader(""), &out, &errs, "")
	a.mu.Lock()
	defer a.mu.Unlock()
	requests, a.requests = a.requests, nil
	return status, out.String(), errs.String(), requests
}

// With --require-signature the agent gets no credential before its card has been
// checked, and all of them then.
func TestNoCredentialBeforeTheSignature(t *testing.T) {
	a := newSignedAgent(t, nil)
	status, out, stderr, requests := a.run(t, "--require-signature", "--signature-key", a.key, "send", "hello")
	if status != frame.ExitOK || stderr != "" || !strings.Contains(out, "Hello") {
		t.Fatalf("status %d, %q, %s", status, out, stderr)
	}
	want := []string{"GET /.well-known/agent-card.json", "GET /.well-known/jwks.json", "POST / Bearer secret"}
	if len(requests) < 3 || strings.Join(requests[:3], "\n") != strings.Join(want, "\n") {
		t.Errorf("the agent got %q", requests)
	}
}

// A card that was changed on the way is the end, for every command, before the
// agent got a credential.
func TestTamperedCardGetsNoCredential(t *testing.T) {
	a := newSignedAgent(t, func(card []byte) []byte {
		return bytes.Replace(card, []byte(`"streaming":true`), []byte(`"streaming":false`), 1)
	})
	for _, command := range [][]string{{"send", "hello"}, {"card", "get"}, {"doctor"}, {"task", "list"}, {"call", "tasks/get", "{}"}, {"card", "verify"}} {
		args := append([]string{"--require-signature", "--signature-key", a.key}, command...)
		status, out, stderr, requests := a.run(t, args...)
		if status != frame.ExitFailed || !strings.Contains(out+stderr, "it does not fit: the card was changed") && !strings.Contains(strings.Join(strings.Fields(out), " "), "it does not fit: the card was changed") {
			t.Errorf("%s: status %d, %q, %s", command, status, out, stderr)
		}
		if got := strings.Join(requests, ", "); strings.Contains(got, "secret") || strings.Contains(got, "POST") {
			t.Errorf("%s: the agent got %s", command, got)
		}
	}
}

package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// With --require-signature the agent, whose key is beside its card, gets no credential before the
// card has been checked, and all of them then.
func TestNoCredentialBeforeTheSignature(t *testing.T) {
	const cardPath, keysPath = "/.well-known/agent-card.json", "/.well-known/jwks.json"
	agent := demo.New(&demo.Options{Version: "both", Pace: -1})
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
		if got := <-requests; got != want {
			t.Errorf("the agent got %q, want %q", got, want)
		}
	}
}

package cli

import (
	"bufio"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestProxyTLS: the proxy trusts the agent that the options trust, and with credentials nobody who is
// not verified.
func TestProxyTLS(t *testing.T) {
	ownPlaces(t)
	agent := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"name":"x","url":"https://%s/","protocolVersion":"0.3.0","version":"1","capabilities":{}}`, r.Host)
	}))
	agent.Config.ErrorLog = log.New(io.Discard, "", 0)
	agent.StartTLS()
	t.Cleanup(agent.Close)
	ca := privateFile(t, t.TempDir(), "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: agent.Certificate().Raw})))
	for _, test := range []struct {
		args string
		want int
	}{
		{"proxy", http.StatusBadGateway}, {"--ca-file " + ca + " proxy", http.StatusOK}, {"--ca-file " + ca + " proxy --with-credentials", http.StatusOK},
		{"--insecure proxy", http.StatusOK}, {"--insecure proxy --with-credentials", http.StatusBadGateway},
	} {
		ctx, stop := context.WithCancel(t.Context())
		out, stdout := io.Pipe()
		ended := make(chan int)
		go func() {
			ended <- Main(ctx, append([]string{"a2astdio", "--agent", agent.URL}, strings.Fields(test.args)...), strings.NewReader(""), stdout, io.Discard, "v0")
		}()
		url := must.Get(bufio.NewReader(out).ReadString('\n'))(t)
		resp := must.Get(http.Get(strings.TrimSpace(url) + ".well-known/agent-card.json"))(t)
		resp.Body.Close()
		if resp.StatusCode != test.want {
			t.Errorf("%s: %d, not %d", test.args, resp.StatusCode, test.want)
		}
		stop()
		<-ended
	}
}

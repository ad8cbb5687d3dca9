package peers

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// conformanceScenarios are the official suite's scenarios for a server of tools without
// the suite's own tools, and their results for the companion. (One more,
// server-sse-polling, finds nothing to check where answers are JSON.)
var conformanceScenarios = []struct{ name, says string }{
	{"server-initialize", "Passed: 1/1, 0 failed"},
	{"ping", "Passed: 1/1, 0 failed"},
	{"tools-list", "Passed: 1/1, 0 failed"},
	{"server-sse-multiple-streams", "Passed: 1/1, 0 failed"},
	// The half that passes is the refusal of another Host:
	// companion/expected-failures.yaml.
	{"dns-rebinding-protection", "Passed: 1/2, 1 failed"},
}

// The official conformance suite finds nothing but intended deviations.
func TestCompanionConformance(t *testing.T) {
	t.Parallel()
	needNode(t, 20) // for npx, which brings the newer one
	e := openCompanion(t, newPlaces(t))
	proxy := tokenProxy(t, &e.started)
	expected := mustGet(filepath.Abs(filepath.Join("companion", "expected-failures.yaml")))(t)
	var script strings.Builder
	for _, s := range conformanceScenarios {
		fmt.Fprintf(&script, "echo '== %s'; conformance server --url %s/mcp --scenario %s --expected-failures '%s' && echo '== passed'\n", s.name, proxy, s.name, expected)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npx", "-y", "-p", "node@22", "-p", "@modelcontextprotocol/conformance@0.1.16", "-c", script.String())
	cmd.Dir = t.TempDir()
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	for _, s := range conformanceScenarios {
		_, rest, _ := strings.Cut(string(out), "== "+s.name+"\n")
		said, _, passed := strings.Cut(rest, "== passed")
		if !passed || strings.Contains(said, "\n== ") || !strings.Contains(said, s.says) {
			t.Errorf("%s: want %q (%v)\n%s", s.name, s.says, err, said)
		}
	}
	if t.Failed() {
		t.Logf("%s", &stderr)
	}
}

// tokenProxy serves a companion without its token, because the suite has no option for
// one. All else passes unchanged, also a wrong Host or Origin.
func tokenProxy(t *testing.T, to *startedParams) string {
	t.Helper()
	target := mustGet(url.Parse(to.url()))(t)
	proxy := &httputil.ReverseProxy{FlushInterval: -1}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.CloseClientConnections)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	proxy.Rewrite = func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = "http", target.Host
		if host, p, _ := net.SplitHostPort(r.In.Host); p == port {
			r.Out.Host = net.JoinHostPort(host, target.Port())
		}
		r.Out.Header.Set("Authorization", "Bearer "+to.AuthToken)
	}
	return server.URL
}

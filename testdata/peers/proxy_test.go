package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// proxied starts a2astdio proxy in front of an agent until the test ends, and returns
// its URL.
func proxied(t *testing.T, agent string, more ...string) string {
	t.Helper()
	return serving(t, exec.Command(binary, append([]string{"--agent", agent, "proxy", "--listen", "127.0.0.1:0"}, more...)...))
}

// A client is a program made with one of the A2A project's SDKs; see its file for what
// it writes.
type client struct {
	name string
	args []string
}

func (c *client) say(t *testing.T, agent, prompt string) (said string, took time.Duration) {
	t.Helper()
	args := append(append([]string(nil), c.args[1:]...), agent, prompt)
	out, err := exec.Command(c.args[0], args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s, %q: %v: %s", c.name, prompt, err, out)
	}
	said, last, _ := cutLast(strings.TrimSpace(string(out)), "\n")
	us, err := strconv.ParseInt(last, 10, 64)
	if err != nil {
		t.Fatalf("%s: %s", c.name, out)
	}
	return said, time.Duration(us) * time.Microsecond
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// clients are the SDKs' clients, by the servers that each can speak to.
func clients(t *testing.T) map[string][]client {
	goV1, goOld := client{"a2a-go v2", []string{buildGo(t, "v1client")}}, client{"a2a-go v0.3", []string{buildGo(t, "v03client")}}
	all := map[string][]client{goV2: {goV1}, goV03: {goOld}}
	if nodeLacks(20) == "" {
		script, dir := filepath.Join("a2ajs", "client.mjs"), installJS(t)
		js, jsOld := client{"a2a-js 1", []string{"node", script, dir, "a2a-js-1"}}, client{"a2a-js 0.3", []string{"node", script, dir, "a2a-js-0.3"}}
		all = map[string][]client{goV2: {goV1, js}, goV03: {goOld, jsOld}, jsV1: {js, goV1}, jsV03: {jsOld, goOld}}
	}
	return all
}

// The A2A project's own clients have the same conversations through the proxy as
// without it. The trace has all of it, and trace check finds nothing.
func TestProxyClients(t *testing.T) {
	t.Parallel()
	for server, list := range clients(t) {
		for _, c := range list {
			t.Run(c.name+" to "+server, func(t *testing.T) {
				t.Parallel()
				agent, trace := sdkServer(t, server), filepath.Join(t.TempDir(), "t.jsonl")
				proxy := proxied(t, agent, "--trace", trace)
				for _, prompt := range []string{"count 5 5", "Grüße,\n\"世界\" 🙂", "message", "fail"} {
					want, _ := c.say(t, agent, prompt)
					if got, _ := c.say(t, proxy, prompt); got != want {
						t.Errorf("%q: without a proxy\n%s\nthrough it\n%s", prompt, want, got)
					}
				}
				if got := readFile(t, trace); !strings.Contains(string(got), "chunk-4 ") || !strings.Contains(string(got), `"reason":"done"`) {
					t.Errorf("the trace has %s", got)
				}
				if out, err := exec.Command(binary, "trace", "check", trace).CombinedOutput(); err != nil {
					t.Errorf("trace check: %v: %s", err, out)
				}
			})
		}
	}
}

// fastAgent says n events as fast as they are read.
func fastAgent(t *testing.T, n int) string {
	t.Helper()
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"name":"fast","description":"fast","version":"1","supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}],`+
				`"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`, s.URL)
			return
		}
		var call struct{ ID json.RawMessage }
		_ = json.Unmarshal(body, &call)
		id := call.ID
		status := func(state string) string {
			return `{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_` + state + `"}}}}`
		}
		if strings.Contains(string(body), `"GetTask"`) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`, id)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		text := strings.Repeat("word ", 40)
		fmt.Fprintf(w, "data: "+`{"jsonrpc":"2.0","id":%s,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}`+"\n\n", id)
		for i := range n {
			fmt.Fprintf(w, "data: "+`{"jsonrpc":"2.0","id":%s,"result":{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"%d %s"}]},"append":%t}}}`+"\n\n", id, i, text, i > 0)
			_ = http.NewResponseController(w).Flush()
		}
		fmt.Fprintf(w, "data: %s\n\n", status("COMPLETED"))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A client finds a stream as fast through the proxy as without it. Times under load
// mean little: the test demands far less than was measured, of the best of several
// runs.
func TestProxySpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short")
	}
	const n = 10_000
	agent := fastAgent(t, n)
	plain, traced := proxied(t, agent), proxied(t, agent, "--trace", filepath.Join(t.TempDir(), "t.jsonl"))
	for _, c := range clients(t)[goV2] {
		best := map[string]time.Duration{}
		for range 4 {
			for name, url := range map[string]string{"without": agent, "through": plain, "traced": traced} {
				said, took := c.say(t, url, "go")
				if events := strings.Count(said, "artifact "); events != n {
					t.Fatalf("%s, %s: %d events of %d", c.name, name, events, n)
				}
				if best[name] == 0 || took < best[name] {
					best[name] = took
				}
			}
		}
		ratio := func(name string) float64 { return float64(best["without"]) / float64(best[name]) }
		t.Logf("%s: %.0f events a second without the proxy, %.2f of that through it, %.2f with a trace",
			c.name, n/best["without"].Seconds(), ratio("through"), ratio("traced"))
		if ratio("through") < 0.4 || ratio("traced") < 0.3 {
			t.Errorf("%s: a stream takes %v without the proxy, %v through it, %v with a trace", c.name, best["without"], best["through"], best["traced"])
		}
	}
}

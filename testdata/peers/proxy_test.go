package peers

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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

func (c *client) say(t *testing.T, agent, prompt string) string {
	t.Helper()
	args := append(append([]string(nil), c.args[1:]...), agent, prompt)
	out, err := exec.Command(c.args[0], args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s, %q: %v: %s", c.name, prompt, err, out)
	}
	return string(out)
}

// clients are the SDKs' clients, by the servers that each can speak to.
func clients(t *testing.T) map[string][]client {
	goV1, goOld := client{"a2a-go v2", []string{buildIn(t, "a2ago", "v1client")}}, client{"a2a-go v0.3", []string{buildIn(t, "a2ago", "v03client")}}
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
					want := c.say(t, agent, prompt)
					if got := c.say(t, proxy, prompt); got != want {
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

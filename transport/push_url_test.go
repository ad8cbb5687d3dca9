package transport

import (
	"context"
	"net/netip"
	"strings"
	"testing"
)

// Which webhooks an editor may name, for a remote agent and for a local one.
func TestCheckWebhook(t *testing.T) {
	names := map[string][]string{
		"public.example": {"93.184.216.34"}, "both.example": {"93.184.216.34", "10.0.0.7"}, "inside.example": {"10.0.0.7"},
		"agent.example": {"10.0.0.5"}, "here.example": {"127.0.0.1"}, "localhost": {"127.0.0.1", "::1"}, "none.example": {},
	}
	resolve := func(_ context.Context, host string) (addrs []netip.Addr, err error) {
		for _, a := range names[host] {
			addrs = append(addrs, netip.MustParseAddr(a))
		}
		return addrs, nil
	}
	for _, c := range []struct {
		agent, url, allow string
		ok                bool
	}{
		{"https://agent.example", "https://public.example/hook", "", true},
		{"https://agent.example", "https://public.example:8443/hook?x=1", "", true},
		{"https://agent.example", "https://PUBLIC.example./hook", "", false}, // the resolver of this test knows no capitals
		{"https://agent.example", "http://public.example/hook", "", false},
		{"https://agent.example", "ftp://public.example/hook", "", false},
		{"https://agent.example", "file:///etc/passwd", "", false},
		{"https://agent.example", "javascript:alert(1)", "", false},
		{"https://agent.example", "//public.example/hook", "", false},
		{"https://agent.example", "https://user:secret@public.example/hook", "", false},
		{"https://agent.example", "https://public.example/hook#x", "", false},
		{"https://agent.example", "https://public.example/hook#", "", false},
		{"https://agent.example", "https://none.example/hook", "", false},
		{"https://agent.example", "https://both.example/hook", "", false},
		{"https://agent.example", "https://both.example/hook", "10.0.0.0/8", true},
		{"https://agent.example", "https://both.example/hook", "10.0.0.7", true},
		{"https://agent.example", "https://both.example/hook", "both.example", true},
		{"https://agent.example", "https://inside.example/hook", "", false},
		{"https://agent.example", "https://agent.example/hook", "", true},
		{"https://agent.example", "https://10.0.0.5/hook", "", true},
		{"https://agent.example", "http://agent.example/hook", "", false},
		{"https://agent.example", "https://127.0.0.1/hook", "", false},
		{"https://agent.example", "https://here.example/hook", "", false},
		{"https://agent.example", "https://[::1]/hook", "", false},
		{"https://agent.example", "https://[::ffff:127.0.0.1]/hook", "", false},
		{"https://agent.example", "https://169.254.169.254/latest/meta-data", "", false},
		{"https://agent.example", "https://[fd00:ec2::254]/", "", false},
		{"https://agent.example", "https://100.100.100.200/", "", false},
		{"https://agent.example", "https://168.63.129.16/", "", false},
		{"https://agent.example", "https://[64:ff9b::a00:7]/", "", false},
		{"https://agent.example", "https://[::a00:1]/", "", false},
		{"https://agent.example", "https://[::ffff:0:10.0.0.1]/", "", false},
		{"https://agent.example", "https://[3fff::1]/", "", false},
		{"https://agent.example", "https://[5f00::1]/", "", false},
		{"https://agent.example", "https://[2606:2800:220:1::1]/", "", true},
		{"https://agent.example", "https://0.0.0.0/", "", false},
		{"https://agent.example", "https://2130706433/", "", false},
		{"https://agent.example", "https://0x7f.1/", "", false},
		{"https://agent.example", "https://127.1/", "", false},
		{"http://127.0.0.1:4000", "http://127.0.0.1:5000/hook", "", true},
		{"http://127.0.0.1:4000", "http://localhost:5000/hook", "", true},
		{"http://127.0.0.1:4000", "http://inside.example/hook", "", false},
		{"http://127.0.0.1:4000", "https://169.254.169.254/", "", false},
	} {
		client, err := NewClient(c.agent, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = client.CheckWebhook(t.Context(), c.url, &WebhookPolicy{Allow: strings.Fields(c.allow), Resolve: resolve})
		if (err == nil) != c.ok {
			t.Errorf("agent %s, webhook %s, allowed %q: %v", c.agent, c.url, c.allow, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells a password: %v", err)
		}
		client.Close()
	}
}

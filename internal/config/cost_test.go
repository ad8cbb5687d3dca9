package config

import (
	"fmt"
	"strings"
	"testing"
)

// manyAgents is a configuration of n agents, each with what people write; the last
// one is used.
func manyAgents(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "agent = \"a%d\"\nmode = \"accept-edits\"\n", n-1)
	for i := range n {
		fmt.Fprintf(&b, `
[agents.a%d] # agent %[1]d
url = "https://agent%[1]d.example/a2a"
mode = "default"
timeout = "40s"
extensions = ["https://x.example/ext/v1", "https://y.example/ext/v1"]
agent-settings = { autoExecute = false, deep.est = [1, 2, 3] }
trace = "/tmp/trace%[1]d.jsonl"

[agents.a%[1]d.headers]
Authorization = "Bearer ${TOKEN_%[1]d}"
X-Team = "blue"
`, i)
	}
	return b.String()
}

// TestCost: a configuration of fifty agents costs a start as many allocations as
// one of a single agent.
func TestCost(t *testing.T) {
	count := func(n int) float64 {
		opts := files(t, manyAgents(n), "")
		return testing.AllocsPerRun(20, func() {
			if c, err := Load(opts); err != nil || c.Value("url").Text != fmt.Sprintf("https://agent%d.example/a2a", n-1) {
				t.Fatal(c, err)
			}
		})
	}
	if one, fifty := count(1), count(50); fifty > one {
		t.Errorf("one agent costs %v allocations, fifty cost %v", one, fifty)
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{0, 1, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := ""
			if n > 0 {
				text = manyAgents(n)
			}
			opts := files(b, text, "")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Load(opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

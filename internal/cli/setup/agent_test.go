package setup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/config"
)

// TestUnderstand: what people write for where an agent is.
func TestUnderstand(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writeFile(t, "{}", dir, "card")
	conf := &reach.Configuration{}
	var err error
	if conf.Files, err = config.Load(&config.Options{File: writeFile(t, "[agents.work]\nurl='u://x'\n", dir, "c.toml")}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"work": "known work", "demo": "agent demo", "https://a.example/x": "agent https://a.example/x", "card": "agent card", "other.json": "agent other.json",
		"localhost:41242": "agent http://localhost:41242", "127.0.0.1:4000/x": "agent http://127.0.0.1:4000/x", "[::1]:4": "agent http://[::1]:4",
		"a.example.com": "agent https://a.example.com", "a.example.com:8443/a2a": "agent https://a.example.com:8443/a2a",
		"npx -y @google/gemini-cli-a2a-server": "command npx -y @google/gemini-cli-a2a-server", "./run.sh": "command ./run.sh", "/opt/agent": "command /opt/agent",
		"wrok": "error", "a | b": "error",
	} {
		agent, command, known, err := understand(conf, text)
		got := strings.TrimSpace(fmt.Sprintf("known %s", known))
		switch {
		case err != nil:
			got = "error"
		case agent != "":
			got = "agent " + agent
		case command != "":
			got = "command " + command
		}
		if got != want {
			t.Errorf("%s: %s, want %s (%v)", text, got, want, err)
		}
	}
}

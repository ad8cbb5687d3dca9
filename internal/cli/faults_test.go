package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestFaults: who is set up wrongly is answered what is wrong. Exit statuses stay.
func TestFaults(t *testing.T) {
	home := ownHome(t)
	file := filepath.Join(home, "wrong.toml")
	for _, row := range []struct{ args, variable, file, want string }{
		{"--agent nme", "", "", `there is no agent "nme"`}, {"", "AGENT=nme", "", `there is no agent "nme"`},
		{"--agent localhost:4000", "", "", "did you mean http://localhost:4000?"}, {"--agent ftp://x", "", "", "is no http or https URL"},
		{"--agent http://", "", "", "is no http or https URL"}, {"--agent", "", "", "--agent needs a value"},
		{"--agnt http://localhost:1", "", "", "did you mean --agent?"}, {"--agnt demo", "", "", "did you mean --agent?"},
		{"--agent demo --timeout 5", "", "", "30s or 2m"}, {"--agent demo", "TIMEOUT=5", "", "A2ASTDIO_TIMEOUT does not take"},
		{"--agent demo --mode always", "", "", "accept-edits"}, {"--agent demo", "FORWARD_MCP=perhaps", "", "A2ASTDIO_FORWARD_MCP"},
		{"--agent demo --header nonsense", "", "", "'Name: value'"}, {"--agent demo --header @/no/such", "", "", "/no/such"},
		{"--agent demo --workspace /no/such", "", "", "is no directory"}, {"--agent demo --trace /no/such/f", "", "", "--trace: open"},
		{"--agent demo --log /no/such/f", "", "", "--log: open"}, {"--agent demo --agent-settings [1]", "", "", "is not a JSON object"},
		{"--agent demo --agent-command x", "", "", "cannot both"}, {"--agent-command a|b", "", "", "which only a shell understands"},
		{"--agent demo --context", "", "", "--context needs --companion"}, {"--agent demo --ca-file /no/such", "", "", "--ca-file"},
		{"--agent demo --config /no/such", "", "", "it cannot be read"}, {"--config FILE", "", "agent = ", "this is not TOML"},
		{"--config FILE", "", "nonsense = 'x'", "there is no key"}, {"--config FILE --agent x", "", "[agents.x]\nurl='http://localhost:1'\nheaders={A='${NOPE}'}", "NOPE"},
	} {
		t.Run(row.args+row.variable, func(t *testing.T) {
			if name, value, ok := strings.Cut(row.variable, "="); ok {
				t.Setenv("A2ASTDIO_"+name, value)
			}
			must.Do(t, os.WriteFile(file, []byte(row.file), 0o600))
			args := strings.Fields(row.args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "FILE", file)
			}
			acp := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n" +
				`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}` + "\n"
			status, stdout, stderr := runMain(acp, args...)
			first, second, _ := strings.Cut(stdout, "\n")
			answer := gjson.Get(second, "error.message").Str
			if status != frame.ExitUsage || !strings.Contains(stderr, row.want) || !gjson.Get(first, "result.protocolVersion").Exists() ||
				!strings.HasPrefix(answer, "bridge: ") || !strings.Contains(answer, row.want) {
				t.Errorf("status %d, %s%s", status, stdout, stderr)
			}
			status, stdout, _ = runMain(`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"text":"hello"}}`+"\n", args...)
			if status != frame.ExitUsage || gjson.Get(stdout, "error.message").Str != answer {
				t.Errorf("A2A lines: status %d, %s", status, stdout)
			}
			if status, stdout, stderr = runMain("", append(args, "send", "hello")...); row.args == "--agent" {
				return // which takes the command for its value
			}
			if row.args != "--agent demo --context" && (status != frame.ExitUsage || stdout != "" || stderr == "") {
				t.Errorf("send: status %d, %s%s", status, stdout, stderr)
			}
		})
	}
}

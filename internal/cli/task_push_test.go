package cli

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/demo"
)

// TestPushShortID: the beginning of a task's ID is enough for its push configurations.
func TestPushShortID(t *testing.T) {
	agent := demo.New(&demo.Options{Version: "both", Pace: -1, Push: &demo.PushOptions{}})
	server := httptest.NewServer(agent)
	defer agent.Close()
	defer server.Close()
	_, id, _ := runMain("", "-a", server.URL, "send", "--async", "ask")
	id = strings.TrimSpace(id)
	for _, args := range [][]string{
		{"set", id[:8], "http://127.0.0.1:9/hook", "--webhook-allow", "127.0.0.1"},
		{"get", id[:8], "1"}, {"list", id[:8]},
	} {
		status, stdout, stderr := runMain("", append([]string{"-a", server.URL, "task", "push-config"}, args...)...)
		if status != 0 || !strings.Contains(stdout, `"taskId":"`+id+`"`) {
			t.Errorf("%v: status %d, %s%s", args, status, stdout, stderr)
		}
	}
}

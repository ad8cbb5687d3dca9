package transport

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Extensions are named in one header line each, or in one, as the agent takes them.
func TestExtensionHeader(t *testing.T) {
	for name, reads := range map[string]func(lines []string) int{
		"lines":     func(lines []string) int { return len(lines) },
		"one line":  func(lines []string) int { return len(strings.Split(lines[0], ",")) },
		"all of it": func(lines []string) int { return len(strings.Split(strings.Join(lines, ","), ",")) },
	} {
		agent := newWireAgent(t, nil)
		agent.answer = func(w http.ResponseWriter, r *http.Request) {
			if reads(r.Header["X-A2a-Extensions"]) < 2 {
				wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32008,"message":"extension support required"}}`)(w, r)
				return
			}
			wireSSE(sseCompleted)(w, r)
		}
		c := wireClient(t, agent.URL, nil)
		c.Activate([]string{"https://e.example/a/v1", "https://e.example/b/v1"})
		for range 2 {
			if err := send(c, t.Context()); err != io.EOF {
				t.Error(name, err)
			}
		}
		if want := map[string]int{"one line": 3}[name]; len(agent.seen()) != max(want, 2) {
			t.Errorf("%s: %d requests", name, len(agent.seen()))
		}
	}
}

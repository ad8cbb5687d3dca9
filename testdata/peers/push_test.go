package peers

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cutFor is a front that ends each stream after its first event, and takes no subscriptions. What
// is asked otherwise passes.
func cutFor(t *testing.T, agent string) string {
	t.Helper()
	return front(t, agent, nil, func(w http.ResponseWriter, r *http.Request, call string, pass http.Handler) {
		switch {
		case calls(call, "tasks/resubscribe", "SubscribeToTask"):
			w.WriteHeader(http.StatusServiceUnavailable)
		case streams(call):
			pass.ServeHTTP(&cutting{ResponseWriter: w, left: 1}, r)
		default:
			pass.ServeHTTP(w, r)
		}
	})
}

// pushPeers are the agents that push, and the versions that each is spoken to in.
var pushPeers = []struct {
	server   string
	versions []string
}{
	{goV2, []string{"1.0", "0.3"}},
	{jsV1, []string{"1.0", "0.3"}},
	{jsV03, []string{"0.3"}},
}

// The stream is cut for good after its first event, and what is pushed finishes the
// turn: the same conversation as uncut.
func TestPush(t *testing.T) {
	for _, peer := range pushPeers {
		t.Run(peer.server, func(t *testing.T) {
			t.Parallel()
			agent := sdkServer(t, peer.server)
			for _, version := range peer.versions {
				uncut := open(t, "--agent", agent, "--a2a-version", version)
				want := uncut.Prompt(uncut.NewSession(t.TempDir()), "count 20 100").story()
				uncut.Close()
				trace := filepath.Join(t.TempDir(), "trace.jsonl")
				e := open(t, "--webhook", "127.0.0.1:0", "--agent", cutFor(t, agent), "--a2a-version", version, "--trace", trace)
				got := e.Prompt(e.NewSession(t.TempDir()), "count 20 100").story()
				e.Close()
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("A2A %s: uncut\n\t%s\ncut\n\t%s", version, strings.Join(want, "\n\t"), strings.Join(got, "\n\t"))
				}
				b, _ := os.ReadFile(trace)
				if n := strings.Count(string(b), `"method":"tasks/resubscribe"`) + strings.Count(string(b), `"method":"SubscribeToTask"`); n > 1 {
					t.Errorf("A2A %s: %d subscriptions were tried while the agent pushed", version, n)
				}
			}
		})
	}
}

// A bridge is killed in the middle of a turn whose stream is cut, and begins again: the
// session that is loaded shows the same text as an uncut one, each word once.
func TestPushKilled(t *testing.T) {
	for _, server := range []string{goV2, jsV1} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			agent := sdkServer(t, server)
			home, cwd, trace := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "trace.jsonl")
			args := []string{"--webhook", "127.0.0.1:0", "--agent", cutFor(t, agent)}
			e := openAt(t, home, args...)
			session := e.NewSession(cwd)
			turn := e.Prompt(session, "count 60 100")
			e.wait(turn.from, "a chunk that was fetched after a push", func(l *Line) bool {
				return strings.Contains(l.text("params.update.content.text"), "chunk-5 ")
			})
			e.Kill()

			e = openAt(t, home, append(args, "--trace", trace)...)
			from := len(e.lines())
			e.Call("session/load", map[string]any{"sessionId": session, "cwd": cwd, "mcpServers": []any{}})
			e.wait(from, "the end of the answer", func(l *Line) bool {
				return strings.Contains(l.text("params.update.content.text"), "chunk-59 ")
			})
			var got strings.Builder
			for _, l := range e.lines()[from:] {
				if l.update() == "agent_message_chunk" {
					got.WriteString(l.text("params.update.content.text"))
				}
			}
			e.Kill() // the checks of Close know no session that is loaded
			want := "working on it"
			for i := range 60 {
				want += fmt.Sprintf("chunk-%d ", i)
			}
			if got.String() != want {
				t.Errorf("the loaded session shows\n%q, want\n%q", got.String(), want)
			}
			b, _ := os.ReadFile(trace)
			if n := strings.Count(string(b), `"SubscribeToTask"`); n > 2 {
				t.Errorf("%d subscriptions were tried while the agent pushed", n)
			}
			if !strings.Contains(string(b), `"CreateTaskPushNotificationConfig"`) {
				t.Error("the webhook was not set again")
			}
		})
	}
}

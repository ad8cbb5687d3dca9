package peers

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// counting is the prompt that makes the SDKs' agents count, slowly enough for a cut, and its story.
func counting(n int) (prompt, text string) {
	for i := range n {
		text += fmt.Sprintf("chunk-%d ", i)
	}
	return fmt.Sprintf("count %d 100", n), text
}

// cutForGood ends each stream of a prompt after its first event, and takes no subscriptions.
func cutForGood(t *testing.T, agent string) string {
	t.Helper()
	return proxied(t, agent, "--fault", "cut-after=1events@message/stream*0", "--fault", "cut-after=1events@SendStreamingMessage*0",
		"--fault", "status=503@tasks/resubscribe*0", "--fault", "status=503@SubscribeToTask*0")
}

// A cut stream shows the same as an uncut one: what follows is fetched, over HTTP+JSON as over
// JSON-RPC, or, if all streams are cut, pushed.
func TestSDKCut(t *testing.T) {
	prompt, text := counting(20)
	want := []string{"title: " + prompt, "agent_message_chunk text: working on it", "agent_message_chunk text: " + text, "stopReason end_turn"}
	for server, versions := range map[string][]string{
		goV2:  {"1.0", "0.3", "1.0 http+json", "0.3 http+json"},
		jsV1:  {"1.0", "0.3", "1.0 http+json", "0.3 http+json"},
		jsV03: {"0.3", "0.3 http+json"},
	} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			agent := sdkServer(t, server)
			for _, version := range versions {
				converse := func(t *testing.T, url string, more ...string) (trace string) {
					t.Parallel()
					trace = filepath.Join(t.TempDir(), "trace.jsonl")
					e := open(t, append(append(more, "--agent", url, "--trace", trace), asked(version)...)...)
					equal(t, e.Prompt(e.NewSession(t.TempDir()), prompt).story(), want)
					e.Close()
					return trace
				}
				t.Run("version="+version, func(t *testing.T) {
					trace := string(readFile(t, converse(t, proxied(t, agent, "--fault", "cut-after=5events"))))
					if n := strings.Count(trace, `"reason":"cut"`); n != 1 || !strings.Contains(trace, `"what":"reconnect"`) {
						t.Errorf("cut %d times, and no reconnect: %s", n, trace)
					}
				})
				if strings.Contains(version, " ") {
					continue
				}
				t.Run("pushed, version="+version, func(t *testing.T) {
					trace := converse(t, cutForGood(t, agent), "--webhook", "127.0.0.1:0")
					if n := subscriptions(t, trace); n > 2 { // without pushes there are four
						t.Errorf("%d subscriptions were tried while the agent pushed", n)
					}
				})
			}
		})
	}
}

// subscriptions is how many a trace has.
func subscriptions(t *testing.T, trace string) int {
	t.Helper()
	b := readFile(t, trace)
	return strings.Count(string(b), `"method":"tasks/resubscribe"`) + strings.Count(string(b), `"method":"SubscribeToTask"`)
}

// A bridge is killed in the middle of a turn whose stream is cut, and begins again: the
// session that is loaded shows the same text as an uncut one, each word once.
func TestPushKilled(t *testing.T) {
	prompt, text := counting(60)
	for _, server := range []string{goV2, jsV1} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			agent := sdkServer(t, server)
			home, cwd, trace := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "trace.jsonl")
			args := []string{"--webhook", "127.0.0.1:0", "--agent", cutForGood(t, agent)}
			says := func(words string) func(l *Line) bool {
				return func(l *Line) bool { return strings.Contains(l.text("params.update.content.text"), words) }
			}
			e := openAt(t, home, args...)
			session := e.NewSession(cwd)
			e.wait(e.Prompt(session, prompt).from, "a chunk that was fetched after a push", says("chunk-5 "))
			e.Kill()

			e = openAt(t, home, append(args, "--trace", trace)...)
			from := len(e.lines())
			e.Call("session/load", map[string]any{"sessionId": session, "cwd": cwd, "mcpServers": []any{}})
			e.wait(from, "the end of the answer", says("chunk-59 "))
			got := ""
			for _, l := range e.lines()[from:] {
				if l.update() == "agent_message_chunk" {
					got += l.text("params.update.content.text")
				}
			}
			e.Kill() // the checks of Close know no session that is loaded
			if want := "working on it" + text; got != want {
				t.Errorf("the loaded session shows\n%q, want\n%q", got, want)
			}
			if n := subscriptions(t, trace); n > 2 {
				t.Errorf("%d subscriptions were tried while the agent pushed", n)
			}
			contains(t, "the trace", string(readFile(t, trace)), `"CreateTaskPushNotificationConfig"`)
		})
	}
}

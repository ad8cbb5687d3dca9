package replay

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/memnet"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/fault"
	"github.com/a2astdio/a2astdio/transport"
)

// serve runs and records a bridge that talks to an agent. It returns the editor's ends,
// and a function that waits for the end.
func serve(t *testing.T, agent http.RoundTripper, path string) (in io.WriteCloser, out io.Reader, end func()) {
	t.Helper()
	recorder, err := trace.Create(path, &trace.Options{Mode: "bridge"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := transport.NewClient("http://agent.invalid/", &transport.ClientOptions{RoundTripper: agent, Wrap: recorder.Wrap})
	if err != nil {
		t.Fatal(err)
	}
	toBridge, editorIn := io.Pipe()
	editorOut, fromBridge := io.Pipe()
	ended := make(chan error, 1)
	go func() { // ends with the editor's input
		err := bridge.Serve(context.Background(), toBridge, fromBridge, &bridge.Options{Client: client, Tap: recorder.Tap, Workspace: "/"})
		fromBridge.Close()
		ended <- err
	}()
	return editorIn, editorOut, func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
		client.Close()
		if err := recorder.Close(); err != nil {
			t.Error(err)
		}
	}
}

// converse is an editor that has a conversation, and allows all questions.
func converse(t *testing.T, in io.WriteCloser, out io.Reader, prompts ...string) {
	t.Helper()
	lines := bufio.NewReader(out)
	session, next := "", 0
	say := func(format string, args ...any) {
		if _, err := fmt.Fprintf(in, format+"\n", args...); err != nil {
			t.Error(err)
		}
	}
	say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Result struct{ SessionID string }
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		switch id := string(m.ID); {
		case m.Method == "session/request_permission":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"proceed_once"}}}`, id)
		case m.Method != "" || id == "":
		case id == "0":
			say(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
		default:
			if id == "1" {
				session = m.Result.SessionID
			}
			if next == len(prompts) {
				in.Close()
				continue
			}
			say(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"%s","prompt":[{"type":"text","text":"%s"}]}}`, next+2, session, prompts[next])
			next++
		}
	}
}

// recordDemo records a conversation with the embedded agent.
func recordDemo(t *testing.T, path, version string, prompts ...string) {
	t.Helper()
	agent := demo.New(&demo.Options{Version: version})
	in, out, end := serve(t, &memnet.Network{Handler: agent}, path)
	converse(t, in, out, prompts...)
	end()
	agent.Close()
}

// replayed plays both sides of a trace with a bridge between them. It returns that
// trace, the agent's notes, and the difference.
func replayed(t *testing.T, path string, speed float64, faults ...string) (second string, notes []string, difference error) {
	t.Helper()
	return replayedBy(t, path, speed, func(agent http.Handler) http.Handler { return agent }, faults...)
}

// replayedBy is replayed with something in front of the agent.
func replayedBy(t *testing.T, path string, speed float64, before func(http.Handler) http.Handler, faults ...string) (second string, notes []string, difference error) {
	t.Helper()
	plan, err := fault.Parse(faults)
	if err != nil {
		t.Fatal(err)
	}
	agent, err := NewAgent(path, &Options{Speed: speed, Faults: plan, Note: func(n string) { notes = append(notes, n) }})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	agent.At("http://agent.invalid/")
	second = filepath.Join(t.TempDir(), "second.jsonl")
	in, out, end := serve(t, &memnet.Network{Handler: before(agent)}, second)
	_, difference = PlayEditor(t.Context(), path, in, out, 10*time.Minute)
	in.Close()
	go io.Copy(io.Discard, out) // ends with the bridge
	end()
	return second, notes, difference
}

// TestReplay: a replay of both sides, with a bridge between them, is the same
// conversation: in both versions of A2A, with approvals, tool calls and several
// prompts, at any speed.
func TestReplay(t *testing.T) {
	for _, version := range []string{"0.3", "1.0"} {
		for _, speed := range []float64{0, 1, 7} {
			t.Run(fmt.Sprintf("%s at speed %v", version, speed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "first.jsonl")
					recordDemo(t, path, version, "hello", "shell", "many", "fail")
					began := time.Now()
					second, notes, err := replayed(t, path, speed)
					if err != nil || len(notes) > 0 {
						t.Fatalf("%v, %q", err, notes)
					}
					if took := time.Since(began); speed == 0 && took > 2*time.Second || speed == 1 && took < time.Second/2 {
						t.Errorf("it took %v", took)
					}
					// And its recording can be replayed again.
					if _, _, err := replayed(t, second, 0); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// A lagging agent pauses after each write on a stream, so that the answer comes before
// it continues.
type lagging struct {
	http.ResponseWriter
	gone <-chan struct{}
}

func (l lagging) Unwrap() http.ResponseWriter { return l.ResponseWriter }

func (l lagging) Flush() {
	_ = http.NewResponseController(l.ResponseWriter).Flush()
	if strings.HasPrefix(l.Header().Get("Content-Type"), "text/event-stream") {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-l.gone:
		}
	}
}

// TestReplayFaults: whatever faults the connection has, the replayed agent can still be
// followed, and the editor gets the same; also when a client reacts to an event at once.
func TestReplayFaults(t *testing.T) {
	lag := func(agent http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { agent.ServeHTTP(lagging{w, r.Context().Done()}, r) })
	}
	for version, stream := range map[string]string{"0.3": "@message/stream", "1.0": "@SendStreamingMessage"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path, long := filepath.Join(t.TempDir(), "first.jsonl"), filepath.Join(t.TempDir(), "long.jsonl")
				recordDemo(t, path, version, "shell")
				recordDemo(t, long, version, "shell", "many")
				// Not behind 4 events: there text comes before the end of a call that it follows
				// without a cut, since a task does not tell the order of messages and calls. An event
				// that comes twice is shown once.
				for _, f := range []string{"cut-after=900" + stream, "cut-after=2events" + stream, "delay=30ms", "dup=5" + stream} {
					if _, notes, err := replayed(t, path, 0, f); err != nil || len(notes) > 0 {
						t.Errorf("%s: %v, %q", f, err, notes)
					}
				}
				for _, f := range []string{"cut-after=900" + stream, "cut-after=2events" + stream, "cut-after=6events" + stream + "*3", "delay=30ms"} {
					if _, notes, err := replayedBy(t, long, 0, lag, f); err != nil || len(notes) > 0 {
						t.Errorf("%s, lagging: %v, %q", f, err, notes)
					}
				}
				// An event that is lost for good is missing, and what no bridge can repair is a
				// difference.
				for _, f := range []string{"drop=7" + stream, "status=500" + stream} {
					if _, _, err := replayed(t, path, 0, f); err == nil || !strings.Contains(err.Error(), "record ") {
						t.Errorf("%s: %v", f, err)
					}
				}
			})
		})
	}
}

// TestDifference: the first deviation is reported, with its place.
func TestDifference(t *testing.T) {
	for _, test := range []struct{ pattern, with, want string }{
		{`"status":"completed"`, `"status":"failed"`, `three completed"], and were ["echo one && echo two && echo three failed"]`},
		{`succeeded\.`, `failed.`, "the text is another one"},
		{`"stopReason":"end_turn"`, `"stopReason":"refusal"`, `result.stopReason is "end_turn", and was "refusal"`},
		{`"kind":"execute"`, `"kind":"execute","extra":1`, "params.toolCall.extra is absent, and was 1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "first.jsonl")
			recordDemo(t, path, "1.0", "shell")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var changed strings.Builder
			for line := range strings.Lines(string(b)) {
				if strings.Contains(line, `"wire":"editor","dir":"out"`) {
					line = regexp.MustCompile(test.pattern).ReplaceAllString(line, test.with)
				}
				changed.WriteString(line)
			}
			if err := os.WriteFile(path, []byte(changed.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err = replayed(t, path, 0)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "recorded:") {
				t.Errorf("%s: %v, want %s", test.pattern, err, test.want)
			}
		})
	}
}

// TestOther: a client that asks for something else, or for more, gets an answer that
// says so.
func TestOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "first.jsonl")
		recordDemo(t, path, "1.0", "hello")
		var notes []string
		agent, err := NewAgent(path, &Options{Note: func(n string) { notes = append(notes, n) }})
		if err != nil {
			t.Fatal(err)
		}
		defer agent.Close()
		agent.At("http://other.invalid/base")
		client := &http.Client{Transport: &memnet.Network{Handler: agent}}
		ask := func(body string) string {
			resp, err := client.Post("http://agent.invalid/", "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			b, _ := io.ReadAll(resp.Body)
			return string(b)
		}
		resp, err := client.Get("http://agent.invalid/.well-known/agent-card.json")
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(b), "http://other.invalid/base/") {
			t.Errorf("the card is %s", b)
		}
		got := ask(`{"jsonrpc":"2.0","id":"x","method":"SendStreamingMessage","params":{"message":{"messageId":"mine","contextId":"my-context","parts":[{"text":"bye"}]}}}`)
		if !strings.Contains(got, `"id":"x"`) || !strings.Contains(got, "TASK_STATE_COMPLETED") || strings.Count(got, "data: ") < 4 {
			t.Errorf("the stream is %s", got)
		}
		if len(notes) != 1 || !strings.Contains(notes[0], `says "bye", and what was recorded says "hello"`) {
			t.Errorf("the notes are %q", notes)
		}
		task := regexp.MustCompile(`"taskId":"([^"]+)"`).FindStringSubmatch(got)[1]
		if got := ask(`{"jsonrpc":"2.0","id":2,"method":"GetTask","params":{"id":"` + task + `"}}`); !strings.Contains(got, `"state":"TASK_STATE_COMPLETED"`) || !strings.Contains(got, `"history"`) {
			t.Errorf("the task is %s", got)
		}
		if got := ask(`{"jsonrpc":"2.0","id":3,"method":"SendStreamingMessage","params":{}}`); !strings.Contains(got, "nothing more of that kind was recorded") {
			t.Errorf("a second message gets %s", got)
		}
		if got := ask(`{"jsonrpc":"2.0","id":4,"method":"SendStreamingMessage","params":{"message":{"messageId":"2","parts":[{"text":"hello"}]}}}`); strings.Count(got, "data: ") < 4 {
			t.Errorf("the same message, again, gets %s", got)
		}
	})
	for name, text := range map[string]string{"none.jsonl": "", "redacted.jsonl": `{"n":1,"t":"2026-01-02T03:04:05Z","us":0,"wire":"bridge","kind":"start","format":2,"run":"r","part":1,"redact":true}` + "\n"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := NewAgent(path, &Options{}); err == nil {
			t.Errorf("%s is played", name)
		}
		if _, err := PlayEditor(t.Context(), path, nil, nil, 0); err == nil {
			t.Errorf("%s is played", name)
		}
	}
}

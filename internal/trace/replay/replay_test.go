package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/memnet"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/transport"
)

// play lets an editor have a conversation with an agent, in which it allows all questions, and
// records it. It returns what the editor was told, without IDs.
func play(t *testing.T, agent *memnet.Network, path, version string, prompts ...string) (told []string) {
	t.Helper()
	recorder := must.Get(trace.Create(path, &trace.Options{Mode: "bridge"}))(t)
	client := must.Get(transport.NewClient("http://agent.invalid/", &transport.ClientOptions{RoundTripper: agent, Version: version, Wrap: recorder.Wrap}))(t)
	serve := func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
		return bridge.Serve(ctx, in, out, &bridge.Options{Client: client, Tap: recorder.Tap, Workspace: "/"})
	}
	e := must.Get(editor.Start(&editor.Options{Serve: serve}))(t)
	for _, prompt := range prompts {
		turn := e.Prompt(prompt)
		<-turn.Done
		text := ""
		for _, x := range turn.Shown {
			switch x.Kind {
			case editor.Text:
				text += x.Text
			case editor.Call:
				told = append(told, x.Text)
			}
		}
		told = append(told, text, turn.Stop+turn.Err)
	}
	must.Fail(t, errors.Join(e.Close(), recorder.Close()), "")
	client.Close()
	agent.Sever()
	return told
}

// recordDemo records a conversation with the embedded agent.
func recordDemo(t *testing.T, path, version string, prompts ...string) (told []string) {
	t.Helper()
	agent := demo.New(&demo.Options{})
	defer agent.Close()
	return play(t, &memnet.Network{Handler: agent}, path, version, prompts...)
}

// TestReplay: with the agent that is played an editor has the conversation that was
// recorded: in both versions of A2A, with approvals, tool calls and several prompts, at any
// speed; and its recording can be replayed again.
func TestReplay(t *testing.T) {
	prompts := []string{"hello", "shell", "many", "fail"}
	for _, version := range []string{"0.3", "1.0"} {
		for _, speed := range []float64{0, 1, 7} {
			t.Run(fmt.Sprintf("%s at speed %v", version, speed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "first.jsonl")
					want := recordDemo(t, path, version, prompts...)
					for range 2 {
						var notes []string
						agent := must.Get(NewAgent(path, &Options{Speed: speed, Note: func(n string) { notes = append(notes, n) }}))(t)
						agent.At("http://agent.invalid/")
						path = filepath.Join(t.TempDir(), "next.jsonl")
						began := time.Now()
						got := play(t, &memnet.Network{Handler: agent}, path, version, prompts...)
						took := time.Since(began)
						must.True(t, (speed != 0 || took <= 2*time.Second) && (speed != 1 || took >= time.Second/2), "it took", took)
						agent.Close()
						if !slices.Equal(got, want) || len(got) < 20 || len(notes) > 0 {
							t.Fatalf("the editor was told %q, and then %q; notes %q", got, want, notes)
						}
					}
				})
			})
		}
	}
}

// TestOther: a client that asks for something else, or for more, gets an answer that
// says so.
func TestOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "first.jsonl")
		recordDemo(t, path, "1.0", "hello")
		var notes []string
		agent := must.Get(NewAgent(path, &Options{Note: func(n string) { notes = append(notes, n) }}))(t)
		defer agent.Close()
		agent.At("http://other.invalid/base")
		network := &memnet.Network{Handler: agent}
		defer network.Sever()
		client := &http.Client{Transport: network}
		ask := func(body string) string {
			resp := must.Get(client.Post("http://agent.invalid/", "application/json", strings.NewReader(body)))(t)
			defer resp.Body.Close()
			b, _ := io.ReadAll(resp.Body)
			return string(b)
		}
		resp := must.Get(client.Get("http://agent.invalid/.well-known/agent-card.json"))(t)
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		must.Has(t, string(b), "http://other.invalid/base/")
		got := ask(`{"jsonrpc":"2.0","id":"x","method":"SendStreamingMessage","params":{"message":{"messageId":"mine","contextId":"my-context","parts":[{"text":"bye"}]}}}`)
		if !strings.Contains(got, `"id":"x"`) || !strings.Contains(got, "TASK_STATE_COMPLETED") || strings.Count(got, "data: ") < 4 {
			t.Errorf("the stream is %s", got)
		}
		if len(notes) != 1 || !strings.Contains(notes[0], `says "bye", and what was recorded says "hello"`) {
			t.Errorf("the notes are %q", notes)
		}
		got = ask(`{"jsonrpc":"2.0","id":2,"method":"GetTask","params":{"id":"x"}}`)
		must.Has(t, got, "nothing more of that kind was recorded") // that task was not asked for
		got = ask(`{"jsonrpc":"2.0","id":3,"method":"SendStreamingMessage","params":{}}`)
		must.Has(t, got, "nothing more of that kind was recorded") // nor was there a second message
		got = ask(`{"jsonrpc":"2.0","id":4,"method":"SendStreamingMessage","params":{"message":{"messageId":"2","parts":[{"text":"hello"}]}}}`)
		must.True(t, strings.Count(got, "data: ") >= 4, "the same message, again, gets", got)
	})
	t.Run("another task", func(t *testing.T) {
		a, task := &Agent{}, func(id string) *request {
			q := newRequest(http.MethodPost, "/", "", fmt.Appendf(nil, `{"method":"GetTask","params":{"id":%q}}`, id))
			return &q
		}
		a.exchanges = []*exchange{{request: *task("a"), played: true}, {request: *task("b")}}
		for ask, want := range []*exchange{a.exchanges[0], a.exchanges[1], nil} {
			x, _ := a.match(task(string(rune('a' + ask))))
			must.True(t, x == want, ask, x)
		}
	})
	t.Run("IDs that change places", func(t *testing.T) {
		m := &ids{current: map[string]string{"1": "2", "2": "3", "3": "1"}}
		must.Equal(t, string(m.apply([]byte(`["1","2","3","4"]`))), `["2","3","1","4"]`)
	})
	for name, text := range map[string]string{"none.jsonl": "", "redacted.jsonl": `{"n":1,"t":"2026-01-02T03:04:05Z","us":0,"wire":"bridge","kind":"start","format":2,"run":"r","part":1,"redact":true}` + "\n"} {
		_, err := NewAgent(must.File(t, text, t.TempDir(), name), &Options{})
		must.True(t, err != nil, name, "is played")
	}
}

// TestNoStatus: what no server can answer with is a cut.
func TestNoStatus(t *testing.T) {
	record := `{"n":1,"t":"2026-01-02T03:04:05Z","us":0,"wire":"agent","x":1,`
	told := record + `"kind":"request","http":"GET","url":"http://h/x"}` + "\n" + record + `"kind":"response","status":42}` + "\n"
	path := must.File(t, told, t.TempDir(), "t.jsonl")
	agent := must.Get(NewAgent(path, &Options{Note: func(string) {}}))(t)
	defer agent.Close()
	defer func() {
		r := recover()
		must.True(t, r == http.ErrAbortHandler, "it ends with", r)
	}()
	agent.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/x", nil))
}

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const bodyEvents = `data: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t1","contextId":"c1","status":{"state":"working"}}}` + "\n\n" +
	`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t1","contextId":"c1","status":{"state":"completed"},"final":true}}` + "\n\n"

// The error for a compressed answer names the encoding.
func TestEncodedAnswer(t *testing.T) {
	agent := newWireAgent(t, wireAnswer(200, "application/json", "?", "Content-Encoding", "br"))
	_, err := wireClient(t, agent.URL, nil).Get(context.Background(), "t1", -1)
	if err == nil || !strings.Contains(err.Error(), "in the encoding br, which was not asked for") {
		t.Error(err)
	}
}

// An event stream is recognized by its content, even if its type says JSON or is missing;
// JSON is still read as JSON.
func TestMislabelledStream(t *testing.T) {
	for _, label := range []string{"application/json", "text/plain", "application/octet-stream"} {
		for _, before := range []string{"", ": ready\n\n", "\uFEFF", "\r\n\n", "event: message\n", "id: 7\nretry: 5\n"} {
			agent := newWireAgent(t, wireAnswer(200, label, before+bodyEvents))
			s, err := wireClient(t, agent.URL, nil).Send(context.Background(), hello())
			if err != nil {
				t.Errorf("%s, %q: %v", label, before, err)
				continue
			}
			if got, err := wireReadAll(s); len(got) != 2 || err != io.EOF {
				t.Errorf("%s, %q: %q %v, want two events", label, before, got, err)
			}
		}
	}
	agent := newWireAgent(t, wireAnswer(200, "application/json", ` {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t1","contextId":"c1","status":{"state":"working"}}}`))
	s, err := wireClient(t, agent.URL, nil).Send(context.Background(), hello())
	if err != nil || !s.Unstreamed() {
		t.Errorf("a plain answer: %v", err)
	}
}

// JSON objects, one a line, are read as the events of a stream, each as it comes.
func TestJSONLines(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\n\n"} {
		second, lines := make(chan struct{}), strings.Split(strings.ReplaceAll(bodyEvents, "data: ", ""), "\n\n")
		agent := newWireAgent(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
			_, _ = io.WriteString(w, lines[0]+end)
			w.(http.Flusher).Flush()
			<-second
			_, _ = io.WriteString(w, lines[1]) // the last line may have no end
		})
		s := must.Get(wireClient(t, agent.URL, nil).Send(context.Background(), hello()))(t)
		first, err := s.Read()
		if close(second); err != nil || len(first) != 1 {
			t.Errorf("%q: %d events, %v, want the first alone", end, len(first), err)
		}
		if got, err := wireReadAll(s); len(got) != 1 || err != io.EOF {
			t.Errorf("%q: %q %v, want the second event", end, got, err)
		}
	}
}

// A line that is cut off is a cut, and none that is no JSON.
func TestJSONLineCut(t *testing.T) {
	lines := strings.ReplaceAll(strings.ReplaceAll(bodyEvents, "data: ", ""), "\n\n", "\n")
	agent := newWireAgent(t, wireAnswer(200, "application/x-ndjson", lines[:len(lines)-20]))
	s := must.Get(wireClient(t, agent.URL, nil).Send(context.Background(), hello()))(t)
	if got, err := wireReadAll(s); len(got) != 1 || !errors.Is(err, ErrInterrupted) {
		t.Errorf("%q %v, want the first event, and a cut", got, err)
	}
}

// An answer that is no stream may have several lines, whatever it is labelled as.
func TestMislabelledAnswer(t *testing.T) {
	agent := newWireAgent(t, wireAnswer(200, "application/x-ndjson",
		"{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"result\": {\"kind\": \"task\", \"id\": \"t\", \"contextId\": \"c\", \"status\": {\"state\": \"working\"}}\n}\n"))
	if task, err := wireClient(t, agent.URL, nil).Get(context.Background(), "t", 0); err != nil || task.TaskID != "t" {
		t.Errorf("%v, %v", task, err)
	}
}

// The caller that waits for a stream is told of its comments.
func TestCommentsAreHeard(t *testing.T) {
	second := make(chan struct{})
	agent := newWireAgent(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": one\n\n")
		w.(http.Flusher).Flush()
		<-second
		_, _ = io.WriteString(w, bodyEvents)
	})
	s := must.Get(wireClient(t, agent.URL, nil).Send(context.Background(), hello()))(t)
	var heard []string
	s.Heard(func() {
		if heard = append(heard, "something"); len(heard) == 1 {
			close(second)
		}
	})
	if events, err := s.Read(); err != nil || len(events) == 0 || !slices.Contains(heard, "something") {
		t.Errorf("%v %v %v", events, err, heard)
	}
}

// TestArtifactsOf: neighbours of one ID are one artifact, of all their parts; others stay apart.
func TestArtifactsOf(t *testing.T) {
	for raw, want := range map[string]string{
		`[{"artifactId":"a","name":"n","parts":[{"text":"no "}]},{"artifactId":"a","parts":[{"text":"no "},{"text":"no"}]}]`:                    "a n: no |no |no;",
		`[{"artifactId":"a","parts":[{"text":"x"}]},{"artifactId":"a","parts":[{"data":{"k":1}}]},{"artifactId":"b","parts":[]}]`:               `a : x|{"k":1};b : ;`,
		`[{"artifactId":"a","parts":[{"text":"x"}]},{"artifactId":"b","parts":[{"text":"x"}]},{"artifactId":"a","parts":[{"text":"x"}]}]`:       "a : x;b : x;a : x;",
		`[{"parts":[{"text":"x"}]},{"parts":[{"text":"y"}]}]`:                                                                                   " : x; : y;",
		`[{"artifactId":"a","parts":[{"text":"x "}]},{"artifactId":"a","parts":[{"text":"y"}]},{"artifactId":"a","parts":[{"text":"x y"}]}]`:    "a : x y;",
		`[{"artifactId":"a","parts":[{"text":"ha"}]},{"artifactId":"a","parts":[{"text":"ha"}]},{"artifactId":"a","parts":[{"text":"ha!"}]}]`:   "a : ha|ha|ha!;",
		`[{"artifactId":"a","parts":[{"text":"x"}]},{"artifactId":"a","parts":[{"text":"x y"}]},{"artifactId":"a","parts":[{"text":"x y z"}]}]`: "a : x y z;",
		`[{"artifactId":"a","parts":[{"text":"One step."}]},{"artifactId":"a","parts":[{"text":"One step. Two."}]}]`:                            "a : One step. Two.;",
		`[]`: "",
	} {
		got := ""
		for a := range artifactsOf(raw, nil) {
			var parts []string
			for p := range a.Parts.All() {
				parts = append(parts, p.Text+string(p.Data))
			}
			got += a.ID + " " + a.Name + ": " + strings.Join(parts, "|") + ";"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	n := 0
	for range artifactsOf(`[{"artifactId":"a"},{"artifactId":"b"},{"artifactId":"c"}]`, nil) {
		if n++; n == 2 {
			break // the walk ends there
		}
	}
}

// Pages as servers send them, and answers that are no page.
func TestListAnswers(t *testing.T) {
	for _, test := range []struct{ result, want, err string }{
		{result: `{"tasks":[{"id":"a","contextId":"c","status":{"state":"TASK_STATE_WORKING"}},{"kind":"task","id":"b","status":{"state":"completed"}}],"nextPageToken":"n","pageSize":2,"totalSize":3}`,
			want: `a=working b=completed next="n" total=3`},
		{result: `{"tasks":[{"id":"a","status":{"state":"working"}}],"next_page_token":"n","total_size":"7"}`, want: `a=working next="n" total=7`},
		{result: `{"tasks":null,"nextPageToken":null}`, want: `next="" total=0`},
		{result: `{}`, want: `next="" total=0`},
		{result: `[{"id":"a","status":{"state":5}}]`, want: `a=canceled next="" total=0`},
		{result: `{"tasks":[null,7,{"kind":"dream","taskId":"d"}]}`, want: `?= ?= ?d= next="" total=0`},
		{result: `null`, err: "agent: URL/rpc answered tasks/list with something that is no list of tasks: null"},
		{result: `"no"`, err: `agent: URL/rpc answered tasks/list with something that is no list of tasks: "no"`},
	} {
		agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":`+test.result+`}`))
		page, err := wireClient(t, agent.URL, nil).List(t.Context(), a2a.TaskQuery{})
		if err != nil {
			if got := strings.ReplaceAll(err.Error(), agent.URL, "URL"); got != test.err {
				t.Errorf("%s: %s", test.result, got)
			}
			continue
		}
		var got strings.Builder
		for i := range page.Tasks {
			ev := page.Tasks[i].Clone()
			if ev.Kind != a2a.EventTask {
				got.WriteString("?")
			}
			fmt.Fprintf(&got, "%s=%s ", ev.TaskID, ev.State)
		}
		fmt.Fprintf(&got, "next=%q total=%d", page.NextPageToken, page.TotalSize)
		if got.String() != test.want {
			t.Errorf("%s: got %s", test.result, got.String())
		}
	}
	// Most 0.3 agents do not have the method; their error is returned.
	agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}`))
	_, err := wireClient(t, agent.URL, nil).List(t.Context(), a2a.TaskQuery{})
	if e := (*a2a.Error)(nil); !errors.As(err, &e) || e.Code != a2a.CodeMethodNotFound {
		t.Error(err)
	}
}

package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
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
	agent := newWireAgent(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		lines := strings.ReplaceAll(strings.ReplaceAll(bodyEvents, "data: ", ""), "\n\n", "\n")
		_, _ = io.WriteString(w, lines[:len(lines)-20])
	})
	s := must.Get(wireClient(t, agent.URL, nil).Send(context.Background(), hello()))(t)
	if got, err := wireReadAll(s); len(got) != 1 || !errors.Is(err, ErrInterrupted) {
		t.Errorf("%q %v, want the first event, and a cut", got, err)
	}
}

// An answer that is no stream may have several lines, whatever it is labelled as.
func TestMislabelledAnswer(t *testing.T) {
	agent := newWireAgent(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"result\": {\"kind\": \"task\", \"id\": \"t\", \"contextId\": \"c\", \"status\": {\"state\": \"working\"}}\n}\n")
	})
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

package transport

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

const bodyEvents = `data: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t1","contextId":"c1","status":{"state":"working"}}}` + "\n\n" +
	`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t1","contextId":"c1","status":{"state":"completed"},"final":true}}` + "\n\n"

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
	for _, row := range must.Table[[2]string](t, "testdata/artifacts.txt") {
		raw, want := row[0], row[1]
		got := ""
		for a := range artifactsOf(raw, nil) {
			var parts []string
			for p := range a.Parts.All() {
				parts = append(parts, p.Text+string(p.Data))
			}
			got += a.ID + " " + a.Name + ": " + strings.Join(parts, "|") + ";"
		}
		must.Equal(t, got, want, raw)
	}
	n := 0
	for range artifactsOf(`[{"artifactId":"a"},{"artifactId":"b"},{"artifactId":"c"}]`, nil) {
		if n++; n == 2 {
			break // the walk ends there
		}
	}
}

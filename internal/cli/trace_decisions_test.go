package cli

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace"
)

// TestTraceDecisions: a trace of a bridge whose connection was cut tells that it was lost
// and what was done, each where it happened: behind the end that says "cut", and before
// the request that follows it on.
func TestTraceDecisions(t *testing.T) {
	lines := `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"text":"hello"}}` + "\n"
	record := func(fault string) (what []string, all []trace.Record) {
		url, _ := background(t, "--agent", "demo", "proxy", "--fault", fault)
		path := filepath.Join(t.TempDir(), "t.jsonl")
		if status, out, stderr := runMain(lines, "--agent", url, "--trace", path); status != 0 || !strings.Contains(out, `"id":1`) {
			t.Fatalf("status %d, %s%s", status, out, stderr)
		}
		r := must.Get(trace.Open(path, nil))(t)
		for {
			rec, err := r.Next()
			if err == io.EOF {
				return what, all
			}
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, *rec)
			switch {
			case rec.Kind == trace.KindDecision && rec.What != trace.DecideFold && rec.What != trace.DecideMerge:
				what = append(what, rec.What)
			case rec.Kind == trace.KindEnd && rec.Reason == trace.EndCut:
				what = append(what, "cut")
			case rec.Kind == trace.KindRequest && rec.Method == "SubscribeToTask":
				what = append(what, "subscribe")
			}
		}
	}
	what, all := record("cut-after=2events@SendStreamingMessage")
	if want := []string{"cut", trace.DecideLost, trace.DecideReconnect, "subscribe"}; !slices.Equal(what[:min(len(what), len(want))], want) { // a task that has ended meanwhile is asked for
		t.Errorf("%q, want %q", what, want)
	}
	for _, r := range all {
		if r.Kind != trace.KindDecision {
			continue
		}
		if (r.What == trace.DecideLost || r.What == trace.DecideReconnect) && (r.Why == "" || r.Task == "" || r.Session == "") || r.What == trace.DecideReconnect && r.Attempt != 1 {
			t.Errorf("%+v", r)
		}
	}
	// A stream that ends before the task has an ID cannot be followed.
	what, all = record("cut-after=1@SendStreamingMessage")
	if want := []string{"cut", trace.DecideGiveUp}; !slices.Equal(what, want) {
		t.Errorf("%q, want %q", what, want)
	}
	for _, r := range all {
		if r.What == trace.DecideGiveUp && (!strings.Contains(r.Why, "before the task had an ID") || r.Session == "") {
			t.Errorf("%+v", r)
		}
	}
}

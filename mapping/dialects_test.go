package mapping_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// eventsOfDialects are the events of all recordings of dialects.
func eventsOfDialects(t testing.TB) (events []string) {
	files, err := filepath.Glob("../testdata/recordings/dialects/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		b := must.Get(os.ReadFile(file))(t)
		for line := range strings.Lines(string(b)) {
			for _, mark := range []string{"rs ", "json "} {
				line = strings.TrimPrefix(line, mark)
			}
			if strings.HasPrefix(line, "{") {
				events = append(events, strings.TrimSpace(line))
			}
		}
	}
	return events
}

// FuzzDialects: whatever an agent says in a dialect, editors get valid JSON, a snapshot of
// the task adds no question, and every question can be rejected in its dialect.
func FuzzDialects(f *testing.F) {
	events := eventsOfDialects(f)
	for i := range events {
		f.Add(events[i], events[(i+1)%len(events)], uint8(i))
	}
	words := dialect.Names()
	f.Fuzz(func(t *testing.T, one, two string, which uint8) {
		if !json.Valid([]byte(one)) || !json.Valid([]byte(two)) || !strings.HasPrefix(strings.TrimSpace(one), "{") || !strings.HasPrefix(strings.TrimSpace(two), "{") {
			return
		}
		fold := mapping.NewFold()
		fold.Begin("")
		fold.Speak(words[int(which)%len(words)])
		acp, lines := spell.ACP{Session: "s", Cwd: "/"}, spell.Lines{}
		for _, raw := range []string{one, two, one} {
			steps := fold.Event(shown.Live, decode(t, raw), nil)
			out := acp.Append(nil, steps)
			out = lines.Append(out, steps)
			for l := range bytes.Lines(out) {
				if !json.Valid(l) {
					t.Fatalf("not JSON: %s", l)
				}
			}
		}
		for _, call := range fold.Calls.Open() {
			q := mapping.NewQuestion(call)
			if !json.Valid(acp.Permission(q)) {
				t.Fatalf("not JSON: %s", acp.Permission(q))
			}
			reject := q.Reject()
			if reject.Allows() {
				t.Fatalf("%+v is taken for a rejection", reject)
			}
			if reject.CancelsTask {
				continue
			}
			answer, m := mapping.Answer{Call: call, OptionID: reject.SentID()}, &a2a.Outgoing{}
			if err := (dialect.Writing{}).Answers([]mapping.Answer{answer}, m); err != nil || len(m.Parts) == 0 {
				t.Fatalf("it cannot be rejected: %v", err)
			}
		}
	})
}

// TestHectorLong: what a snapshot of very many pieces costs grows with them.
func TestHectorLong(t *testing.T) {
	const n = 20_000
	parts := strings.Repeat(`{"kind":"text","text":"ab"},`, n) + `{"kind":"text","text":""}`
	fold := mapping.NewFold()
	fold.Begin("t")
	fold.Speak("hector")
	steps := fold.Event(shown.Snapshot, decode(t, `{"kind":"task","id":"t","contextId":"c","status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":[`+parts+`]}]}`), nil)
	text := ""
	if len(steps) > 0 {
		text = steps[len(steps)-1].Text
	}
	if len(steps) < n || text != "ab" {
		t.Errorf("%d steps, %q", len(steps), text)
	}
}

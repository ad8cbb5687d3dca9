package mapping_test

import (
	"bytes"
	"encoding/json"
	"fmt"
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
		for _, call := range fold.Open() {
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

// TestDialectsApart: an event of one dialect is not read by another. Each event gets a
// conversation of its own, and must not become a call or a question of another dialect.
func TestDialectsApart(t *testing.T) {
	// A text that looks like a dialect's data stays text.
	for _, text := range []string{"$ rm -rf /", "✓ Bash", "Generating response...", `{"adk_type":"function_call"}`, "option:allow"} {
		raw, _ := json.Marshal(text)
		fold := mapping.NewFold()
		fold.Begin("")
		steps := fold.Event(shown.Live, decode(t, `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","message":{"kind":"message","role":"agent","messageId":"m","parts":[{"kind":"text","text":`+string(raw)+`}]}},"final":false}`), nil)
		var got []string
		for _, s := range steps {
			if s.Kind == mapping.StepText {
				got = append(got, s.Text)
			}
			if s.Kind == mapping.StepTool {
				t.Errorf("%q became a tool call", text)
			}
		}
		if len(got) != 1 || got[0] != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}

// TestSnapshotAsksOnce: a snapshot of a task that waits gives one question: the present
// one, and none of the earlier ones.
func TestSnapshotAsksOnce(t *testing.T) {
	ask := func(id, call string) string {
		return `{"kind":"message","role":"agent","messageId":"m` + id + `","parts":[{"kind":"data","data":{"id":"` + id + `","name":"adk_request_confirmation","args":{"originalFunctionCall":{"id":"` + call + `","name":"wipe","args":{}},"toolConfirmation":{"hint":""}}},"metadata":{"adk_type":"function_call","adk_is_long_running":true}}]}`
	}
	fold := mapping.NewFold()
	fold.Begin("t")
	fold.Event(shown.Snapshot, decode(t, `{"kind":"task","id":"t","contextId":"c","status":{"state":"input-required","message":`+ask("q2", "c2")+`},"history":[`+ask("q1", "c1")+`],"artifacts":[]}`), nil)
	open := fold.Open()
	if len(open) != 1 || open[0].ID != "c2" || open[0].QuestionID != "q2" {
		t.Errorf("%d questions are open", len(open))
	}
}

// TestGivenUp: an agent that asks again what was answered takes no answers, and a look at its
// task asks nothing either.
func TestGivenUp(t *testing.T) {
	const question = `{"kind":"message","role":"agent","messageId":"mID","parts":[{"kind":"data","data":{"id":"qID","name":"adk_request_confirmation","args":{"originalFunctionCall":{"id":"cID","name":"wipe","args":{"path":"build"}},"toolConfirmation":{"hint":""}}},"metadata":{"adk_type":"function_call","adk_is_long_running":true}}]}`
	ask := func(id string) string { return strings.ReplaceAll(question, "ID", id) }
	live := func(id string) *a2a.Event {
		return decode(t, `{"kind":"status-update","taskId":"t","contextId":"c","final":true,"status":{"state":"input-required","message":`+ask(id)+`}}`)
	}
	fold := mapping.NewFold()
	fold.Begin("")
	fold.Event(shown.Live, live("1"), nil)
	fold.Answered("c1", true)
	if len(fold.Open()) != 0 || fold.GivenUp() {
		t.Fatal("the answer does not count")
	}
	fold.Event(shown.Live, live("2"), nil)
	fold.Event(shown.Snapshot, decode(t, `{"kind":"task","id":"t","contextId":"c","status":{"state":"input-required","message":`+ask("2")+`},"history":[`+ask("1")+`],"artifacts":[]}`), nil)
	if !fold.GivenUp() || len(fold.Open()) != 0 || !strings.Contains(fold.Err, "again") {
		t.Errorf("given up: %v, %d open, %q", fold.GivenUp(), len(fold.Open()), fold.Err)
	}
}

// TestReplyToAll: an agent that waits for the results of two calls hears the user's words as both.
func TestReplyToAll(t *testing.T) {
	ask := func(id string) string {
		return `{"kind":"data","data":{"id":"` + id + `","name":"look","args":{}},"metadata":{"adk_type":"function_call","adk_is_long_running":true}}`
	}
	fold := mapping.NewFold()
	fold.Begin("")
	fold.Event(shown.Live, decode(t, `{"kind":"status-update","taskId":"t","contextId":"c","final":true,"status":{"state":"input-required","message":{"kind":"message","role":"agent","messageId":"m","parts":[`+ask("c1")+`,`+ask("c2")+`]}}}`), nil)
	m := &a2a.Outgoing{TaskID: "t", Parts: []a2a.OutPart{{Text: "yes"}}}
	if err := fold.Reply(m); err != nil || len(m.Parts) != 2 || fold.WaitsForWords() {
		t.Fatalf("%+v, %v", m.Parts, err)
	}
	for i, id := range []string{"c1", "c2"} {
		if data := string(m.Parts[i].Data); !strings.Contains(data, `"`+id+`"`) || !strings.Contains(data, `"yes"`) {
			t.Errorf("%s: %s", id, data)
		}
	}
}

// TestEachInTurn: each state of Codex's to-do list is shown, and each code that ADK runs, which have no IDs
// of their own.
func TestEachInTurn(t *testing.T) {
	const event = `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","message":{"kind":"message","role":"agent","messageId":"m%d","parts":[%s]}},"final":false}`
	for name, row := range map[string]struct{ parts, want []string }{
		"codex-npm": {[]string{
			`{"kind":"data","data":{"request":{"callId":"item_3","name":"todo_list"},"status":"in_progress","items":[{"text":"look","completed":false}]}}`,
			`{"kind":"data","data":{"request":{"callId":"item_3","name":"todo_list"},"status":"updated","items":[{"text":"look","completed":true}]}}`,
			`{"kind":"data","data":{"request":{"callId":"item_3","name":"todo_list"},"status":"completed","items":[{"completed":true, "text":"look"}]}}`,
		}, []string{`"status":"pending"`, `"status":"completed"`}},
		"adk": {[]string{
			`{"kind":"data","data":{"code":"print(1)"},"metadata":{"adk_type":"executable_code"}},{"kind":"data","data":{"outcome":"OUTCOME_OK","output":"1"},"metadata":{"adk_type":"code_execution_result"}}`,
			`{"kind":"data","data":{"code":"print(2)"},"metadata":{"adk_type":"executable_code"}}`,
			`{"kind":"data","data":{"outcome":"OUTCOME_FAILED","output":"2"},"metadata":{"adk_type":"code_execution_result"}}`,
			// The whole of what was streamed.
			`{"kind":"data","data":{"code":"print(1)"},"metadata":{"adk_type":"executable_code"}},{"kind":"data","data":{"code":"print(2)"},"metadata":{"adk_type":"executable_code"}}`,
		}, []string{"print(1)", "completed", "print(2)", "failed"}},
	} {
		fold, acp, lines := mapping.NewFold(), spell.ACP{Session: "s"}, 0
		fold.Begin("")
		fold.Speak(name)
		for i, parts := range row.parts {
			for l := range bytes.Lines(acp.Append(nil, fold.Event(shown.Live, decode(t, fmt.Sprintf(event, i, parts)), nil))) {
				if lines == len(row.want) || !strings.Contains(string(l), row.want[lines]) {
					t.Errorf("%s: line %d is %s", name, lines, l)
				}
				lines++
			}
		}
		if lines != len(row.want) {
			t.Errorf("%s: %d lines, want %d", name, lines, len(row.want))
		}
	}
}

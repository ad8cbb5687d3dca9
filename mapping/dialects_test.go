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
		"": {[]string{ // kagent's runtime for Python, by its key
			`{"kind":"data","data":{"id":"1","name":"look","args":{}},"metadata":{"kagent_type":"function_call"}}`,
			`{"kind":"data","data":{"id":"1","name":"look","response":{"result":"seen"}},"metadata":{"kagent_type":"function_response"}}`,
		}, []string{`"sessionUpdate":"tool_call"`, `"status":"completed"`}},
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

// TestUnrecorded: members of calls that no recording has are read.
func TestUnrecorded(t *testing.T) {
	read := func(ev *a2a.Event) *mapping.ToolCall {
		steps := speaking().Event(shown.Live, ev, nil)
		return steps[len(steps)-1].Tool
	}
	if c := read(callEvent("c", "executing", `,"liveOutput":"so far"`)); c == nil || c.OutputSoFar != "so far" {
		t.Errorf("%+v", c)
	}
	c := read(dataEvent(`{"tool_call_id":"c","status":"SUCCEEDED","output":{"diff":{"file_path":"/a","formatted_diff":"+a"},"structured_data":{"n":1}}}`))
	if c == nil || c.Output == nil || c.Output.Diff == nil || c.Output.Diff.Formatted != "+a" || c.Output.Data != `{"n":1}` {
		t.Errorf("%+v", c)
	}
}

// hectorParts are parts as JSON: what begins with { is data, all else is text.
func hectorParts(texts ...string) string {
	var parts []string
	for _, text := range texts {
		raw, _ := json.Marshal(text)
		part := `{"kind":"text","text":` + string(raw) + `}`
		if strings.HasPrefix(text, "{") {
			part = `{"kind":"data","data":` + text + `}`
		}
		parts = append(parts, part)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// TestHector: of an answer, which comes in pieces and then whole, each word is shown once:
// live, and by a snapshot of the artifact that holds all of it.
func TestHector(t *testing.T) {
	const use, result = `{"type":"tool_use"}`, `{"type":"tool_result"}`
	type said struct {
		partial bool
		parts   []string
	}
	piece := func(parts ...string) said { return said{true, parts} }
	whole := func(parts ...string) said { return said{false, parts} }
	for _, row := range []struct {
		name string
		says []said
		want string
	}{
		{"one piece", []said{piece("yes"), whole("yes")}, "yes"},
		{"pieces that repeat", []said{piece("ha"), piece("ha"), whole("haha")}, "haha"},
		{"a list", []said{piece("- one\n"), piece("- one\n"), piece("- one\n"), piece("- one"), whole("- one\n- one\n- one\n- one")}, "- one\n- one\n- one\n- one"},
		{"two agents", []said{piece("The first"), piece(" says this."), whole("The first says this."), piece("The other"), piece(" says that."), whole("The other says that.")},
			"The first says this.The other says that."},
		{"two agents, shortly", []said{piece("yes"), whole("yes"), piece("no"), whole("no")}, "yesno"},
		{"a tool", []said{piece("I look."), piece(use), whole("I look.", use), whole(result), piece("It"), piece(" is 4."), whole("It is 4.")}, "I look.It is 4."},
		{"not streamed", []said{whole("I look.", use), whole(result), whole("It is 4.")}, "I look.It is 4."},
		{"not streamed, and twice alike", []said{whole("I look.", use), whole(result), whole("I look.", use), whole(result), whole("It is 4.")}, "I look.I look.It is 4."},
		{"twice alike", []said{piece("I look."), piece(use), whole("I look.", use), whole(result), piece("I"), piece(" look."), whole("I look.", use), whole(result), piece("4"), whole("4")}, "I look.I look.4"},
		{"no hector: what is not partial ends the pieces", []said{piece("a"), piece(" b"), whole(" c")}, "a b c"},
		{"unfinished", []said{piece("a "), piece("b "), piece("b "), piece("c")}, "a b b c"},
		{"unfinished, from the start", []said{piece("ha"), piece("ha")}, "haha"},
	} {
		var held []string
		fold, late := mapping.NewFold(), mapping.NewFold()
		fold.Begin("")
		late.Begin("t")
		late.Speak("hector")
		got := ""
		for i, s := range row.says {
			held = append(held, s.parts...)
			raw := fmt.Sprintf(`{"kind":"artifact-update","taskId":"t","contextId":"c","append":%v,"artifact":{"artifactId":"a","parts":%s},"metadata":{"author":"x","event_id":"e%d","partial":%v}}`,
				i > 0, hectorParts(s.parts...), i, s.partial)
			for _, step := range fold.Event(shown.Live, decode(t, raw), nil) {
				if !step.Repeats {
					got += step.Text
				}
			}
		}
		if got != row.want {
			t.Errorf("%s: live %q", row.name, got)
		}
		state := "completed"
		if strings.HasPrefix(row.name, "unfinished") {
			state = "working"
		}
		task := decode(t, `{"kind":"task","id":"t","contextId":"c","status":{"state":"`+state+`"},"artifacts":[{"artifactId":"a","parts":`+hectorParts(held...)+`}]}`)
		for want, f := range map[string]*mapping.Fold{row.want: late, "": fold} {
			got := ""
			for _, step := range f.Event(shown.Snapshot, task, nil) {
				if !step.Repeats {
					got += step.Text
				}
			}
			if got != want {
				t.Errorf("%s: the snapshot adds %q, and not %q", row.name, got, want)
			}
		}
	}
}

// TestHectorLong: what a snapshot of very many pieces costs grows with them.
func TestHectorLong(t *testing.T) {
	pieces := strings.Split(strings.Repeat("ab,", 100_000), ",")
	fold := mapping.NewFold()
	fold.Begin("t")
	fold.Speak("hector")
	steps := fold.Event(shown.Snapshot, decode(t, `{"kind":"task","id":"t","contextId":"c","status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":`+hectorParts(pieces...)+`}]}`), nil)
	text := ""
	if len(steps) > 0 {
		text = steps[len(steps)-1].Text
	}
	if len(steps) < len(pieces)-1 || text != "ab" {
		t.Errorf("%d steps, %q", len(steps), text)
	}
}

// TestWrapperOthers: another agent may have a2a-wrapper's extension, or a URI that ends as that begins: what it says is shown.
func TestWrapperOthers(t *testing.T) {
	for name, raw := range map[string]string{
		"text in an artifact of the extension": `{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"a","extensions":["urn:x-a2a:trace:v1"],"parts":[{"kind":"text","text":"said"}]}}`,
		"the URI of another extension":         `{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"a","extensions":["http://x/urn:x-a2a:trace:v1"],"parts":[{"kind":"data","data":"said"}]}}`,
		"an answer with data":                  `{"kind":"artifact-update","taskId":"t","contextId":"c","append":true,"lastChunk":true,"artifact":{"artifactId":"a","name":"response","parts":[{"kind":"data","data":"said"}]}}`,
		"the filler ends the turn":             `{"kind":"status-update","taskId":"t","contextId":"c","final":true,"status":{"state":"completed","message":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"Processing request..."}]}}}`,
	} {
		fold := mapping.NewFold()
		fold.Begin("")
		fold.Speak("a2a-wrapper")
		seen := false
		for _, s := range fold.Event(shown.Live, decode(t, raw), nil) {
			seen = seen || s.Kind == mapping.StepText || s.Kind == mapping.StepPart
		}
		if !seen {
			t.Errorf("%s: nothing is shown", name)
		}
	}
}

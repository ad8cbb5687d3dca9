package talk

import (
	"errors"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestJSON: the document has what was said, and what messages, artifacts and parts say of themselves.
func TestJSON(t *testing.T) {
	var b strings.Builder
	o := &jsonOutput{out: &b, say: t.Logf}
	text := func(text string, s mapping.Step) mapping.Step {
		s.Kind, s.Text = mapping.StepText, text
		return s
	}
	own := mapping.OwnMeta{Metadata: `{"urn:m":1}`, ReferenceTaskIDs: `["t0"]`, Extensions: `["urn:m"]`, Part: `{"urn:p":2}`}
	file := &a2a.Part{Kind: a2a.PartFile, File: a2a.File{URI: "u:"}, Metadata: `{"urn:f":3}`}
	steps := []mapping.Step{
		{Kind: mapping.StepState, State: a2a.StateWorking, Timestamp: "2026-01-01T00:00:00Z"},
		text("a", mapping.Step{MessageID: "m", Own: own}), text("b", mapping.Step{MessageID: "m", Append: true}),
		{Kind: mapping.StepPart, MessageID: "m", Part: file}, text("<c>", mapping.Step{MessageID: "m"}),
		{Kind: mapping.StepPart, MessageID: "m", Part: &a2a.Part{Kind: a2a.PartData, Data: `{"x":1}`}},
		{Kind: mapping.StepPart, MessageID: "m", Part: &a2a.Part{Kind: a2a.PartFile, File: a2a.File{Name: "empty"}}},
		text("old", mapping.Step{ArtifactID: "A", Name: "N", Description: "D"}),
		text("x", mapping.Step{ArtifactID: "A", Own: mapping.OwnMeta{Metadata: `{"urn:a":4}`}}),
		{Kind: mapping.StepState, State: a2a.StateCompleted, Timestamp: "2026-01-01T00:00:01Z"},
	}
	must.Do(t, o.show(steps))
	must.Do(t, o.End(bridge.Result{TaskID: "t", State: a2a.StateCompleted}, ""))
	message := `{"messageId":"m","taskId":"t","role":"ROLE_AGENT","metadata":{"urn:m":1},"referenceTaskIds":["t0"],"extensions":["urn:m"],` +
		`"parts":[{"text":"ab","metadata":{"urn:p":2}},{"url":"u:","metadata":{"urn:f":3}},{"text":"<c>"},{"data":{"x":1}},{"raw":"","filename":"empty"}]}`
	want := `{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-01T00:00:01Z","message":` + message +
		`},"artifacts":[{"artifactId":"A","name":"N","description":"D","metadata":{"urn:a":4},"parts":[{"text":"x"}]}],"history":[` + message + "]}}\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	o = &jsonOutput{out: &b} // an answer without a task
	must.Do(t, errors.Join(o.show(steps[2:3]), o.End(bridge.Result{ContextID: "c"}, "")))
	if want := `{"message":{"messageId":"m","contextId":"c","role":"ROLE_AGENT","parts":[{"text":"b"}]}}` + "\n"; b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
}

// TestJSONGap: that a part of the answer may be missing is said beside a JSON document, which has
// no place for it.
func TestJSONGap(t *testing.T) {
	gap := []mapping.Step{{Kind: mapping.StepConnection, Connection: mapping.Connection{Phase: mapping.PhaseResumed, Gap: true}}}
	said := 0
	say := func(string, ...any) { said++ }
	for name, show := range map[string]func([]mapping.Step) error{
		"a task": (&jsonOutput{say: say}).show,
		"events": (&streamOutput{say: say}).show,
	} {
		said = 0
		if err := show(gap); err != nil || said != 1 {
			t.Errorf("%s: said %d times (%v), want once", name, said, err)
		}
	}
}

package talk

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
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
	must.Equal(t, b.String(), want)
	b.Reset()
	o = &jsonOutput{out: &b} // an answer without a task
	must.Do(t, errors.Join(o.show(steps[2:3]), o.End(bridge.Result{ContextID: "c"}, "")))
	must.Equal(t, b.String(), `{"message":{"messageId":"m","contextId":"c","role":"ROLE_AGENT","parts":[{"text":"b"}]}}`+"\n")
	b.Reset()
	o = &jsonOutput{out: &b} // messages that name a task, of which there is no state
	steps = []mapping.Step{text("a ", mapping.Step{MessageID: "m", TaskID: "t"}), text("b", mapping.Step{MessageID: "n", TaskID: "t"})}
	must.Do(t, errors.Join(o.show(steps), o.End(bridge.Result{ContextID: "c", TaskID: "t"}, "")))
	must.Equal(t, b.String(), `{"message":{"messageId":"n","contextId":"c","taskId":"t","role":"ROLE_AGENT","parts":[{"text":"a b"}]}}`+"\n")
	b.Reset()
	o = &jsonOutput{out: &b} // a message that says another one again, and goes on
	steps = []mapping.Step{
		text("a ", mapping.Step{MessageID: "m", Shown: "m"}), text("a ", mapping.Step{MessageID: "n", Shown: "m", Repeats: true}),
		text("b", mapping.Step{MessageID: "n", Shown: "m"}), {Kind: mapping.StepPart, MessageID: "n", Shown: "m", Part: file},
		text("c", mapping.Step{MessageID: "o", Shown: "o", Repeats: true}),
	}
	must.Do(t, errors.Join(o.show(steps), o.End(bridge.Result{}, "")))
	must.Equal(t, b.String(), `{"message":{"messageId":"o","role":"ROLE_AGENT","parts":[{"text":"a b"},{"url":"u:","metadata":{"urn:f":3}}]}}`+"\n")
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
		must.Do(t, show(gap))
		must.Equal(t, said, 1, name)
	}
}

// TestV1: 0.3 becomes 1.0, and 1.0 stays as it is.
func TestV1(t *testing.T) {
	spell := func(in, version string) string {
		return string(must.Get(rawjson.Marshal(V1Event(a2a.JSON(in), transport.Chosen{Version: version})))(t))
	}
	for _, row := range must.Table[[2]string](t, "testdata/v1.txt") {
		in, want := row[0], row[1]
		must.Equal(t, spell(in, "0.3"), want, in)
		must.Equal(t, spell(in, "1.0"), want, in)
		must.Equal(t, spell(want, "1.0"), want, in)
	}
}

// TestTextOutput: messages begin on their own lines; a terminal gets no control
// characters, a pipe gets every byte.
func TestTextOutput(t *testing.T) {
	for plain, want := range map[bool]string{false: "a\x1b[1mb\nc\n", true: "a␛[1mb\nc\n"} {
		var b bytes.Buffer
		o := &TextOutput{Out: &b, Plain: plain}
		for _, s := range []mapping.Step{{Text: "a"}, {Text: "\x1b[1mb"}, {Shown: "2", Text: "c"}} {
			s.Kind = mapping.StepText
			must.Do(t, o.show([]mapping.Step{s}))
		}
		err := o.End(bridge.Result{}, "")
		must.True(t, err == nil && b.String() == want, b.String(), err)
	}
}

// TestToolEnds: a line says how a call has ended, and not more than is known.
func TestToolEnds(t *testing.T) {
	for _, test := range []struct {
		status mapping.ToolStatus
		error  string
		want   string
	}{
		{mapping.ToolSucceeded, "", "done    ls\n"},
		{mapping.ToolFailed, "no such file", "failed  ls: no such file\n"},
		{mapping.ToolCancelled, "Not run: it was rejected.", "not run ls: Not run: it was rejected.\n"},
		{mapping.ToolCancelled, "The agent has not said what became of this call.", "unknown ls: The agent has not said what became of this call.\n"},
	} {
		call := &mapping.ToolCall{Name: "ls", Status: test.status}
		if test.error != "" {
			call.Error = &mapping.ErrorDetails{Message: test.error}
		}
		var got strings.Builder
		o := &TextOutput{screen: &frame.Screen{Err: &got, Columns: func() int { return 80 }}}
		o.tool(&mapping.Step{Kind: mapping.StepTool, New: true, Tool: call})
		o.screen.End()
		must.Equal(t, got.String(), test.want)
	}
}

package mapping

import (
	"strings"
	"testing"
)

// TestRecorder: the record of growing output is at most twice as long as the output, and
// the record of a call holds all that was shown.
func TestRecorder(t *testing.T) {
	var r Recorder
	call := &ToolCall{ID: "c", Name: "make", Status: ToolExecuting}
	text := Step{Kind: StepText, Text: "x"}
	record := func(changed ToolChange, isNew bool) (tools []Step) {
		all := r.Pick([]Step{text, {Kind: StepTool, Tool: call, New: isNew, Changed: changed}, text})
		for _, s := range all {
			if s.Kind == StepTool {
				tools = append(tools, s)
			}
		}
		if len(all)-len(tools) != 2 {
			t.Fatal("the text beside it is not recorded")
		}
		return tools
	}
	if len(record(ToolHead|ToolState|ToolContent, true)) != 1 {
		t.Error("the call's beginning is not recorded")
	}
	const size = 1 << 18
	total, count := 0, 0
	for n := 100; n <= size; n += 100 {
		call.OutputSoFar = strings.Repeat("o", n)
		for range record(ToolContent, false) {
			total, count = total+n, count+1
		}
	}
	if total > 2*size || count < 5 {
		t.Errorf("%d bytes in %d snapshots", total, count)
	}
	call.OutputSoFar += "o"
	if len(record(ToolContent, false)) != 0 {
		t.Error("a little more output is recorded")
	}
	if len(record(ToolContent, false)) != 1 {
		t.Error("what has changed beside the output is not recorded")
	}
	call.OutputSoFar += "o"
	record(ToolContent, false)
	if s := record(ToolState, false); len(s) != 1 || s[0].Changed != ToolState|ToolContent {
		t.Errorf("%+v", s)
	}
	call.Status = ToolSucceeded
	if len(record(ToolState, false)) != 1 || len(r.calls) != 0 {
		t.Error("the call's end is not recorded, or it is kept")
	}
	steps := []Step{text, {Kind: StepTool, Tool: call, Changed: ToolState}}
	if got := r.Pick(steps); &got[0] != &steps[0] || len(got) != 2 {
		t.Error("what is recorded as it is was copied")
	}
}

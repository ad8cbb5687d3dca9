package spell

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/mapping"
)

// TestJournalCalls: a call is loaded as it was, also where it has changed inside a character.
func TestJournalCalls(t *testing.T) {
	var j Journal
	var l Loader
	for _, input := range []string{`{"a":"\u00e9"}`, `{"a":"é"}`, `{"a":"è"}`, `{"a":"éé"}`, `{"a":"èé"}`, `{"a":"ꀉ"}`, `{}`} {
		c := &mapping.ToolCall{ID: "c", Shown: "c", Name: "x", Status: mapping.ToolExecuting, Input: "", OutputSoFar: strings.Clone(input)}
		line := j.Append(nil, []mapping.Step{{Kind: mapping.StepTool, Tool: c, Changed: mapping.ToolHead}})
		if steps, _ := l.Line(line); len(steps) != 1 || steps[0].Tool.OutputSoFar != input {
			t.Errorf("%s was loaded as %+v", input, steps)
		}
	}
}

package spell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/mapping"
)

// TestCollapse: only the newest of snapshots that follow each other stays.
func TestCollapse(t *testing.T) {
	tool := func(id string, status mapping.ToolStatus, changed mapping.ToolChange, live string) mapping.Step {
		return mapping.Step{Kind: mapping.StepTool, Changed: changed, Tool: &mapping.ToolCall{ID: id, Shown: id, Status: status, OutputSoFar: live}}
	}
	begun := tool("a", mapping.ToolExecuting, mapping.ToolHead|mapping.ToolState|mapping.ToolContent, "0")
	begun.New = true
	asks := tool("a", mapping.ToolExecuting, mapping.ToolContent, "7")
	asks.Tool.Asks = true
	steps := []mapping.Step{begun,
		tool("a", mapping.ToolExecuting, mapping.ToolContent, "1"), tool("a", mapping.ToolExecuting, mapping.ToolContent, "2"), tool("a", mapping.ToolExecuting, mapping.ToolContent, "3"),
		{Kind: mapping.StepText, Text: "t"},
		tool("a", mapping.ToolExecuting, mapping.ToolContent, "4"), tool("b", mapping.ToolExecuting, mapping.ToolContent, "5"), tool("a", mapping.ToolExecuting, mapping.ToolContent, "6"), asks,
		tool("a", mapping.ToolExecuting, mapping.ToolContent, "8"), tool("a", mapping.ToolSucceeded, mapping.ToolState|mapping.ToolContent, "9"), tool("a", mapping.ToolSucceeded, mapping.ToolContent, "10"),
		tool("a", mapping.ToolSucceeded, mapping.ToolContent, "11"),
	}
	var got []string
	for _, s := range Collapse(steps) {
		if s.Kind == mapping.StepTool {
			got = append(got, s.Tool.OutputSoFar)
		} else {
			got = append(got, s.Text)
		}
	}
	if want := "0 3 t 4 5 6 7 8 9 11"; fmt.Sprint(strings.Join(got, " ")) != want {
		t.Errorf("%v, want %v", got, want)
	}
}

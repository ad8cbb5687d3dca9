package mapping

import (
	"fmt"
	"strings"
	"testing"
)

// TestCollapse: only the newest of snapshots that follow each other stays.
func TestCollapse(t *testing.T) {
	tool := func(id string, status ToolStatus, changed ToolChange, live string) Step {
		return Step{Kind: StepTool, Changed: changed, Tool: &ToolCall{ID: id, Shown: id, Status: status, OutputSoFar: live}}
	}
	begun := tool("a", ToolExecuting, ToolHead|ToolState|ToolContent, "0")
	begun.New = true
	asks := tool("a", ToolExecuting, ToolContent, "7")
	asks.Tool.Asks = true
	steps := []Step{begun,
		tool("a", ToolExecuting, ToolContent, "1"), tool("a", ToolExecuting, ToolContent, "2"), tool("a", ToolExecuting, ToolContent, "3"),
		{Kind: StepText, Text: "t"},
		tool("a", ToolExecuting, ToolContent, "4"), tool("b", ToolExecuting, ToolContent, "5"), tool("a", ToolExecuting, ToolContent, "6"), asks,
		tool("a", ToolExecuting, ToolContent, "8"), tool("a", ToolSucceeded, ToolState|ToolContent, "9"), tool("a", ToolSucceeded, ToolContent, "10"),
		tool("a", ToolSucceeded, ToolContent, "11"),
	}
	var got []string
	for _, s := range Collapse(steps) {
		if s.Kind == StepTool {
			got = append(got, s.Tool.OutputSoFar)
		} else {
			got = append(got, s.Text)
		}
	}
	if want := "0 3 t 4 5 6 7 8 9 11"; fmt.Sprint(strings.Join(got, " ")) != want {
		t.Errorf("%v, want %v", got, want)
	}
}

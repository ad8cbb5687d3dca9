package talk

import (
	"bytes"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
)

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
		if err := o.End(bridge.Result{}, ""); err != nil || b.String() != want {
			t.Errorf("%q %v", b.String(), err)
		}
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
		if got.String() != test.want {
			t.Errorf("got %q, want %q", got.String(), test.want)
		}
	}
}

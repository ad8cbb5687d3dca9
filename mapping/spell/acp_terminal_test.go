package spell

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// However the output of a call grows, the terminal, or the text that replaces it, holds the
// whole output at the end.
func FuzzTerminal(f *testing.F) {
	f.Add("one\n", "one\ntwo\n", "one\ntwo\n", false)
	f.Add("10%", "20%", "", true)
	f.Add("a\x1b[31mb", "a\x1b[31mb\x1b[0mc", "abc", false)
	f.Add("", "", "only in the end", false)
	f.Fuzz(func(t *testing.T, first, second, end string, fails bool) {
		if !utf8.ValidString(first + "|" + second + "|" + end) {
			return // package transport lets nothing else through
		}
		out := ACP{Session: "s", Terminal: TerminalDelta}
		call := func(status mapping.ToolStatus, live string) *mapping.ToolCall {
			return &mapping.ToolCall{ID: "c", Shown: "c", Name: "run_shell_command", Kind: "execute", Status: status, OutputSoFar: live}
		}
		last := call(mapping.ToolSucceeded, second)
		if end != "" {
			last.OutputSoFar, last.Output = "", &mapping.ToolOutput{Text: end}
		}
		if fails {
			last.Status, last.OutputSoFar, last.Output, last.Error = mapping.ToolFailed, "", nil, &mapping.ErrorDetails{Message: "no", StatusCode: 3}
		}
		lines := out.Append(nil, []mapping.Step{
			{Kind: mapping.StepTool, New: true, Changed: mapping.ToolHead | mapping.ToolState | mapping.ToolContent, Tool: call(mapping.ToolExecuting, first)},
			{Kind: mapping.StepTool, Changed: mapping.ToolContent, Tool: call(mapping.ToolExecuting, second)},
			{Kind: mapping.StepTool, Changed: mapping.ToolState | mapping.ToolContent, Tool: last},
		})
		written, shown, ended := "", "", 0
		for line := range strings.Lines(string(lines)) {
			if !gjson.Valid(line) {
				t.Fatalf("not JSON: %s", line)
			}
			u := gjson.Get(line, "params.update")
			written += u.Get("_meta.terminal_output_delta.data").Str
			if u.Get("_meta.terminal_exit").Exists() {
				ended++
				if code := u.Get("_meta.terminal_exit.exit_code"); fails && ended == 1 && len(out.terminals) == 0 && u.Get("status").Exists() && code.Int() != 3 {
					t.Errorf("exit code %s", code.Raw)
				}
			}
			if c := u.Get("content"); c.Exists() {
				shown = c.Raw
			}
		}
		if ended != 1 || len(out.terminals) != 0 {
			t.Errorf("the terminal ended %d times, %d are left", ended, len(out.terminals))
		}
		clean := func(s string) string {
			return strings.TrimSpace(ask.WithoutEscapes(s))
		}
		want := end
		if want == "" {
			want = second
		}
		if !fails && strings.Contains(shown, `"terminalId"`) && clean(want) != "" && clean(written) != clean(want) {
			t.Errorf("the terminal shows %q, the call put out %q", written, want)
		}
	})
}

// A session of version 2 that is shown again shows a command that still runs from its beginning.
func TestTerminalAgain(t *testing.T) {
	out := ACP{Session: "s", V2: new(Places)}
	all := []mapping.Step{{Kind: mapping.StepTool, New: true, Changed: mapping.ToolHead | mapping.ToolState | mapping.ToolContent,
		Tool: &mapping.ToolCall{ID: "c", Shown: "c", Name: "run_shell_command", Kind: "execute", Status: mapping.ToolExecuting, OutputSoFar: "one\n"}}}
	first := string(out.Append(nil, all))
	if again := string(out.Append(nil, all)); again != first {
		t.Errorf("shown again:\n%s\nwant\n%s", again, first)
	}
}

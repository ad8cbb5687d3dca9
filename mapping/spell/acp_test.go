package spell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestLongText: text that is too long for a line is split without loss, and not inside a
// character, or an escape: by Piece, and without it.
func TestLongText(t *testing.T) {
	long := strings.Repeat("aé世🌍\n", textMax/4)
	chunks := []mapping.Step{}
	for head, rest := ask.Split(long, 1000); head != ""; head, rest = ask.Split(rest, 1000) {
		chunks = append(chunks, mapping.Step{Kind: mapping.StepText, MessageID: "m", Text: head})
	}
	check := func(name, want string, steps ...mapping.Step) {
		t.Helper()
		for _, split := range []func([]mapping.Step) (piece, rest []mapping.Step){Piece, func(all []mapping.Step) (piece, rest []mapping.Step) { return all, nil }} {
			var out []byte
			acp := &ACP{Session: "s"}
			for piece, rest := split(slices.Clone(steps)); len(piece) > 0; piece, rest = split(rest) {
				out = acp.Append(out, piece)
			}
			got := ""
			for line := range bytes.Lines(out) {
				if !gjson.ValidBytes(line) || len(line) > 2*textMax {
					t.Fatalf("%s: a line of %d bytes, JSON: %v", name, len(line), gjson.ValidBytes(line))
				}
				var text string
				if err := json.Unmarshal([]byte(gjson.GetBytes(line, "params.update.content.text").Raw), &text); err != nil {
					t.Fatal(err)
				}
				got += text
			}
			if got != want {
				t.Errorf("%s: %d bytes became %d", name, len(want), len(got))
			}
		}
	}
	check("one chunk", long, mapping.Step{Kind: mapping.StepText, MessageID: "m", Text: long})
	check("its own JSON", long, mapping.Step{Kind: mapping.StepText, MessageID: "m", Text: long, TextJSON: a2a.JSON(rawjson.AppendString(nil, long))})
	check("many chunks", long, chunks...)
	check("a thought", long, mapping.Step{Kind: mapping.StepThought, MessageID: "m", Description: long})
	pad := strings.Repeat("x", textMax-14)
	for _, unit := range []string{`\\`, `\n`, `\"`, `\ud83d\ude00`, `\uD83D\uDE00\u00e9`, "🌍", `a\\\ud83d\ude00`, `\u0041`, "\u4e16"} {
		for shift := range 7 {
			raw := `"` + pad + strings.Repeat("y", shift) + strings.Repeat(unit, 40) + `"`
			var want string
			if json.Unmarshal([]byte(raw), &want) != nil {
				t.Fatal(unit)
			}
			for _, plain := range []bool{true, false} {
				check(fmt.Sprintf("%s, %d before it, plain %t", unit, shift, plain), "s"+want+"~", mapping.Step{Kind: mapping.StepThought, Description: "s"},
					mapping.Step{Kind: mapping.StepText, MessageID: "m", Text: want, TextJSON: a2a.JSON(raw), Plain: plain}, mapping.Step{Kind: mapping.StepText, MessageID: "m", Text: "~"})
			}
		}
	}
}

// TestLongToolOutput: of long output the end is shown, and of a long file the beginning,
// with a note that the rest is left out.
func TestLongToolOutput(t *testing.T) {
	long := strings.Repeat("x", 3*textMax)
	call := &mapping.ToolCall{ID: "c", Name: "run_shell_command", Status: mapping.ToolSucceeded, Output: &mapping.ToolOutput{Text: long + "the end"}}
	edit := &mapping.ToolCall{ID: "e", Name: "write_file", Status: mapping.ToolSucceeded,
		Output: &mapping.ToolOutput{Diff: &mapping.FileDiff{FilePath: "/f", OldContent: &long, NewContent: "the beginning" + long}}}
	input := &mapping.ToolCall{ID: "i", Name: "grep", Status: mapping.ToolExecuting, Input: a2a.JSON(`{"q":"` + long + `"}`)}
	acp := &ACP{Session: "s"}
	content := func(c *mapping.ToolCall) (gjson.Result, string) {
		line := acp.Append(nil, []mapping.Step{{Kind: mapping.StepTool, Tool: c, New: true, Changed: mapping.ToolHead | mapping.ToolState | mapping.ToolContent}})
		if len(line) > 3*textMax {
			t.Errorf("call %s makes a line of %d bytes", c.ID, len(line))
		}
		return gjson.GetBytes(line, "params.update"), string(line)
	}
	if u, _ := content(call); !strings.Contains(u.Get("content.0.content.text").Str, "the end\n```") ||
		!strings.Contains(u.Get("content.0.content.text").Str, "bytes more are not shown") {
		t.Error("the output's end is not shown, or the cut is not said")
	}
	u, _ := content(edit)
	if !strings.HasPrefix(u.Get("content.0.newText").Str, "the beginning") || !strings.Contains(u.Get("content.1.content.text").Str, "not shown") {
		t.Errorf("the diff's beginning is not shown, or the cut is not said")
	}
	if _, line := content(input); !strings.Contains(line, `"rawInput":{"truncated"`) {
		t.Error("the input is not cut")
	}
}

// TestLocation: a call's location has the line that its input names.
func TestLocation(t *testing.T) {
	for input, want := range map[string]string{
		`{"file_path":"/w/f","start_line":7,"end_line":9}`: `[{"path":"/w/f","line":7}]`, `{"line":3,"path":"f"}`: `[{"path":"/w/f","line":3}]`,
		`{"path":"/w/f","offset":7}`: `[{"path":"/w/f"}]`, `{"path":"/w/f","line":"7"}`: `[{"path":"/w/f"}]`, `{"path":"/w/f","line":-7}`: `[{"path":"/w/f"}]`,
		`{"path":"/w/f","line":1e99}`: `[{"path":"/w/f"}]`,
	} {
		out := ACP{Session: "s", Cwd: "/w"}
		c := &mapping.ToolCall{ID: "c", Shown: "c", Name: "read_file", Input: a2a.JSON(input)}
		line := out.Append(nil, []mapping.Step{{Kind: mapping.StepTool, New: true, Changed: mapping.ToolHead, Tool: c}})
		if got := gjson.GetBytes(line, "params.update.locations").Raw; got != want {
			t.Errorf("%s: %s, want %s", input, got, want)
		}
	}
}

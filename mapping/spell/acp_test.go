package spell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
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
				text := gjson.GetBytes(line, "params.update.content.text").Str
				if !utf8.ValidString(text) { // gjson passes half a character through
					t.Fatalf("%s: a line is cut inside a character", name)
				}
				got += text
			}
			must.Equal(t, len(got), len(want), name)
			must.Equal(t, got == want, true, name)
		}
	}
	check("one chunk", long, mapping.Step{Kind: mapping.StepText, MessageID: "m", Text: long})
	check("its own JSON", long, mapping.Step{Kind: mapping.StepText, MessageID: "m", Text: long, TextJSON: a2a.JSON(rawjson.AppendString(nil, long))})
	check("many chunks", long, chunks...)
	check("a thought", long, mapping.Step{Kind: mapping.StepThought, MessageID: "m", Description: long})
	pad := strings.Repeat("x", textMax-14)
	for _, unit := range []string{`\\`, `\n`, `\"`, `\ud83d\ude00`, `\uD83D\uDE00\u00e9`, "🌍", `a\\\ud83d\ude00`, `\u0041`, "\u4e16"} {
		for shift := range min(7, len(unit)) { // the limit is before each of its bytes
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

// An editor that takes notices is told once when the connection was not back at once, and
// once when it is back. It is not told of a short interruption. Other editors get the
// warnings as text. testdata/notices.txt has what happens, what the one is told, and how often the others are of a loss.
func TestNotices(t *testing.T) {
	for _, row := range must.Table[struct {
		Steps, Want string
		Losses      int
	}](t, "testdata/notices.txt") {
		var steps []mapping.Step
		for word := range strings.SplitSeq(row.Steps, ", ") {
			if text, ok := strings.CutPrefix(word, "says "); ok {
				steps = append(steps, mapping.Step{Kind: mapping.StepNotice, Text: strings.ReplaceAll(strings.TrimPrefix(text, "harmless "), `\n`, "\n"), Harmless: strings.HasPrefix(text, "harmless ")})
				continue
			}
			c := mapping.Connection{}
			_, _ = fmt.Sscan(word, &c.Phase, &c.Attempt, &c.Gap)
			steps = append(steps, mapping.Step{Kind: mapping.StepConnection, Connection: c})
		}
		out := ACP{Session: "s", Notices: true}
		var got []string
		for line := range strings.Lines(string(out.Append(nil, steps))) {
			u := gjson.Get(line, "params.update")
			must.Equal(t, u.Get("sessionUpdate").Str, "notice", row.Steps)
			got = append(got, strings.TrimSuffix(u.Get("severity").Str+": "+u.Get("title").Str+" | "+u.Get("description").Str, " | "))
		}
		must.Equal(t, strings.Join(got, "; "), row.Want, row.Steps)
		plain := string((&ACP{Session: "s"}).Append(nil, steps))
		must.Equal(t, strings.Contains(plain, `"notice"`), false, plain)
		must.Equal(t, strings.Count(plain, "The connection to the agent is lost."), row.Losses, plain)
	}
}

// TestMuchMetadata: very many members of metadata are told in a time that grows as their length. The
// narrower of two with one name counts.
func TestMuchMetadata(t *testing.T) {
	const n = 40_000
	began := time.Now()
	var of [2]string
	for i, host := range []string{"event", "message"} {
		var b strings.Builder
		for j := range n {
			fmt.Fprintf(&b, `,"https://%s.example/%d":1`, host, j)
		}
		of[i] = fmt.Sprintf(`{"https://both.example":%q%s}`, host, b.String())
	}
	e := ACP{Session: "s"}
	line := e.Append(nil, []mapping.Step{{Kind: mapping.StepText, Text: "x", Metadata: a2a.JSON(of[0]), Own: mapping.OwnMeta{Metadata: a2a.JSON(of[1])}}})
	if meta := string(line); strings.Count(meta, "example/") != 2*n || strings.Count(meta, "both.example") != 1 || !strings.Contains(meta, `"https://both.example":"message"`) {
		t.Errorf("%d bytes of metadata", len(line))
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestChoiceNames: each option of a choice has a name of its own, also if the agent gives many one name.
func TestChoiceNames(t *testing.T) {
	const n = 60_000
	began := time.Now()
	options := []mapping.Option{{ID: "no", Name: "No", Kind: acp.OptionRejectOnce, Certain: true}, {ID: "x", Name: "Yes (2)", Certain: true}}
	for i := range n {
		options = append(options, mapping.Option{ID: fmt.Sprint(i), Name: "Yes", Certain: true})
	}
	e := NewChoice("Which?", options)
	if len(e.ids) != n+2 || e.ids["Yes"] != "0" || e.ids["Yes (2)"] != "x" || e.ids["Yes (3)"] != "1" {
		t.Errorf("%d names", len(e.ids))
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

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
	must.Equal(t, string(out.Append(nil, all)), first, "shown again")
}

// TestCollapse: only the newest of snapshots that follow each other stays. A word is a step: a text, or a call with its
// output, which begins with "!", asks with "?", and ends with ".".
func TestCollapse(t *testing.T) {
	var steps []mapping.Step
	status := mapping.ToolExecuting
	for word := range strings.FieldsSeq("a0! a1 a2 a3 t a4 b5 a6 a7? a8 a9. a10 a11") {
		s := mapping.Step{Kind: mapping.StepText, Text: word}
		if word != "t" {
			s = mapping.Step{Kind: mapping.StepTool, New: strings.HasSuffix(word, "!"), Changed: mapping.ToolContent}
			if strings.HasSuffix(word, ".") {
				status, s.Changed = mapping.ToolSucceeded, mapping.ToolState|mapping.ToolContent
			}
			s.Tool = &mapping.ToolCall{ID: word[:1], Shown: word[:1], Status: status, OutputSoFar: word, Asks: strings.HasSuffix(word, "?")}
		}
		steps = append(steps, s)
	}
	got := ""
	for _, s := range Collapse(steps) {
		if got += " " + s.Text; s.Tool != nil {
			got += s.Tool.OutputSoFar
		}
	}
	must.Equal(t, got, " a0! a3 t a4 b5 a6 a7? a8 a9. a11")
}

// TestMCPDoing: what an agent does is one line, whatever it calls its thoughts; where the connection is lost, that is it.
func TestMCPDoing(t *testing.T) {
	for subject, want := range map[string]string{"Planning": "Planning", " \n": "thinking", "a\x1b[2J\nstate: completed": `a\u{1B}[2J …`} {
		m := &MCP{}
		if m.Append([]mapping.Step{{Kind: mapping.StepThought, Subject: subject}}); m.Doing != want {
			t.Errorf("%q: %q, want %q", subject, m.Doing, want)
		}
		for _, phase := range []mapping.Phase{mapping.PhaseWaiting, mapping.PhaseRetrying} {
			m.Append([]mapping.Step{{Kind: mapping.StepConnection, Connection: mapping.Connection{Phase: phase, Attempt: 2}}})
			must.Has(t, m.Doing, "is lost")
		}
	}
}

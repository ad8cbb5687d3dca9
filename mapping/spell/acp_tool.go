package spell

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// rawMax is the most that a call's raw input or output may take of an update:
// what matters of it is in the title and the content.
const rawMax = 256 << 10

// askedMax is rawMax for the input of a call that asks: what the user is shown may be
// shortened, and is whole there.
const askedMax = 4 << 20

// tool appends a tool_call, or what has changed as a tool_call_update: omitted
// is unchanged, arrays replace.
func (e *ACP) tool(dst []byte, s *mapping.Step) []byte {
	c := s.Tool
	if isPlan(c) && c.Status != mapping.ToolFailed {
		if entries, ok := e.appendPlan(nil, c); ok {
			if s.Changed&mapping.ToolHead == 0 {
				return dst
			}
			if e.V2 != nil {
				dst = append(e.open(dst, "plan_update"), `,"plan":{"type":"items","planId":"plan","entries":`...) // a session has one
				return e.close(append(append(dst, entries...), '}'))
			}
			dst = e.open(dst, "plan")
			dst = append(dst, `,"entries":`...)
			return e.close(append(dst, entries...))
		}
	}
	if e.V2 != nil {
		return e.tool2(dst, s)
	}
	if e.Terminal != "" {
		if line, ok := e.terminalCall(dst, s); ok {
			return line
		}
	}
	update := "tool_call_update"
	if s.New || isPlan(c) { // a plan that failed was shown as a plan so far
		update = "tool_call"
	}
	dst = e.open(dst, update)
	dst = rawjson.AppendString(append(dst, `,"toolCallId":`...), c.Shown)
	return e.close(e.toolChange(dst, s))
}

// toolChange appends what a step changes of a call, also where that leaves it without content.
func (e *ACP) toolChange(dst []byte, s *mapping.Step) []byte {
	before := len(dst)
	dst = e.toolFields(dst, s.Tool, s.Changed)
	if s.Changed&mapping.ToolCleared != 0 && !bytes.Contains(dst[before:], []byte(`,"content":[`)) {
		dst = append(dst, `,"content":[]`...)
	}
	return dst
}

// toolFields appends the members of a ToolCall that belong to what has changed.
func (e *ACP) toolFields(dst []byte, c *mapping.ToolCall, changed mapping.ToolChange) []byte {
	dst = e.toolHead(dst, c, changed)
	if changed&mapping.ToolContent != 0 || c.Status.Ended() {
		dst = appendToolRawOutput(e.toolContent(dst, c), c)
	}
	return dst
}

// toolHead appends the changed members of a ToolCall that are neither content nor output.
func (e *ACP) toolHead(dst []byte, c *mapping.ToolCall, changed mapping.ToolChange) []byte {
	if changed&mapping.ToolHead != 0 || c.Asks {
		dst = rawjson.AppendField(rawjson.AppendField(dst, "title", mapping.Title(c)), "kind", mapping.ToolKind(c))
	}
	if changed&mapping.ToolState != 0 {
		dst = rawjson.AppendField(dst, "status", e.toolStatus(c))
	}
	if input := rawInput(c); changed&mapping.ToolHead != 0 && input != "" {
		limit := rawMax
		if c.Asks {
			limit = askedMax
		}
		dst = appendRaw(append(dst, `,"rawInput":`...), input, limit)
	}
	if changed&mapping.ToolHead != 0 || changed&mapping.ToolContent != 0 && toolDiff(c) != nil {
		if path := absolute(e.Cwd, mapping.ToolPath(c)); path != "" {
			dst = rawjson.AppendString(append(dst, `,"locations":[{"path":`...), path)
			if line := mapping.ToolLine(c); line > 0 {
				dst = strconv.AppendInt(append(dst, `,"line":`...), line, 10)
			}
			dst = append(dst, `}]`...)
		}
	}
	return dst
}

// rawInput is a call's input. Where what is asked is not in it, it has that, too: the text
// of a question may be shortened.
func rawInput(c *mapping.ToolCall) a2a.JSON {
	q := c.Question()
	if q == nil || ask.IsInInput(c) {
		return c.Input
	}
	var all []byte
	rawjson.EachMember(string(c.Input), func(key, value string) bool {
		all = rawjson.AppendMember(all, key, value)
		return true
	})
	if c.Input != "" && !rawjson.IsObject(string(c.Input)) {
		all = rawjson.AppendMember(all, "input_parameters", string(c.Input))
	}
	if details, _ := rawjson.Marshal(extensionQuestion(q)); len(details) > len("{}") {
		all = rawjson.AppendMember(all, "confirmation_request", string(details))
	}
	if c.Extra != "" {
		all = rawjson.AppendMember(all, "extra", string(c.Extra))
	}
	if all == nil {
		return c.Input
	}
	return a2a.JSON(rawjson.EndObject(all))
}

// appendRaw appends a value as raw input or output; where it is too large, its size.
func appendRaw(dst []byte, j a2a.JSON, limit int) []byte {
	if len(j) > limit {
		dst = rawjson.AppendString(append(dst, `{"truncated":`...), ask.MoreNote(len(j)))
		return append(dst, '}')
	}
	return rawjson.AppendValue(dst, string(j))
}

// toolContent appends what a call shows, if anything: the diff first, then text. The words
// of a question would be better first, but CodeCompanion shows a diff at index 0 only, and
// no other editor's order depends on ours: they show a diff in a view of its own.
func (e *ACP) toolContent(dst []byte, c *mapping.ToolCall) []byte {
	diff, text := toolDiff(c), e.toolText(c)
	if diff.OnlyFormatted() {
		diff = nil
	}
	if diff == nil && text.text == "" {
		return dst
	}
	dst = append(dst, `,"content":[`...)
	note := ""
	if diff != nil {
		over := 0
		if e.V2 != nil {
			dst, over = e.diff2(dst, diff)
		} else {
			dst, over = e.diff(dst, diff)
		}
		if over > 0 {
			note = ask.MoreNote(over) + "\n"
		}
		if note == "" && text.text == "" {
			return append(dst, ']')
		}
		dst = append(dst, ',')
	}
	dst = append(dst, `{"type":"content","content":{"type":"text","text":"`...)
	dst = text.append(rawjson.AppendEscaped(dst, note))
	return append(dst, `"}}]`...)
}

// diff appends a change as two texts. over is how many bytes of them are left out.
func (e *ACP) diff(dst []byte, diff *mapping.FileDiff) (_ []byte, over int) {
	dst = rawjson.AppendString(append(dst, `{"type":"diff","path":`...), absolute(e.Cwd, diff.FilePath))
	if diff.OldContent != nil {
		old, rest := ask.Split(*diff.OldContent, ask.ChangeMax)
		over += len(rest)
		dst = rawjson.AppendString(append(dst, `,"oldText":`...), old)
	}
	now, rest := ask.Split(diff.NewContent, ask.ChangeMax)
	dst = rawjson.AppendString(append(dst, `,"newText":`...), now)
	return append(dst, '}'), over + len(rest)
}

// toolDiff is the change that was made, or is asked for; nil for none.
func toolDiff(c *mapping.ToolCall) *mapping.FileDiff {
	if q := c.Question(); q != nil {
		return q.Edit
	}
	if c.Output != nil && c.Output.Diff != nil {
		return c.Output.Diff
	}
	if c.Confirmation != nil && !c.Status.Ended() {
		return c.Confirmation.Edit
	}
	return nil
}

// A shownText is the text in a call's content.
type shownText struct {
	text string
	// json is how text is written in a JSON string, if that is known: of output so far.
	json string
	// fenced text is shown as it is, not as Markdown.
	fenced bool
}

// toolText is the text that a call shows: why it failed, what came of it, what
// it has put out so far, or what is asked.
func (e *ACP) toolText(c *mapping.ToolCall) (t shownText) {
	if c.Question() != nil { // whatever else is said of it, and whole: it has limits of its own
		return shownText{text: ask.Markdown(c, e.options)}
	}
	t.fenced = mapping.ToolKind(c) == acp.KindExecute
	switch {
	case c.Error != nil:
		t.text, t.fenced = c.Error.Said(t.fenced), false
	case c.Status == mapping.ToolCancelled:
		t.text, t.fenced = "Cancelled", false
	case c.Output != nil && c.Output.Text != "":
		t.text = c.Output.Text
	case c.Output != nil && c.Output.Data != "":
		t.text, t.fenced = string(c.Output.Data), true
	case c.Output != nil && c.Output.Diff != nil: // the diff takes the place of the output
	case c.OutputSoFar != "":
		t.text, t.json = c.OutputSoFar, c.OutputJSON()
	case c.Confirmation != nil && !c.Status.Ended():
		t.text, t.fenced = ask.Markdown(c, e.options), false
	default:
		if c.Description != "" && !strings.Contains(mapping.Title(c), ask.OneLine(c.Description)) {
			t.text, t.fenced = c.Description, false
		}
	}
	if diff := toolDiff(c); diff.OnlyFormatted() && t.text == "" {
		t.text, t.fenced = diff.Formatted, true
	}
	if plain := ask.WithoutEscapes(t.text); len(plain) < len(t.text) {
		t.text, t.json = plain, ""
	}
	if len(t.text) > textMax {
		t.text, t.json = ask.AtLast(t.text, textMax), ""
	}
	return t
}

// append appends the text within a JSON string.
func (t *shownText) append(dst []byte) []byte {
	text, json := t.text, t.json
	if !t.fenced || text == "" {
		return appendEscaped(dst, text, json)
	}
	fence := strings.Repeat("`", max(ask.LongestTicks(text)+1, 3))
	dst = append(dst, fence+`\n`...)
	if n := len(text) - len(strings.TrimRight(text, "\n")); n > 0 {
		text = text[:len(text)-n]
		json = json[:max(0, len(json)-n*len(`\n`))]
	}
	dst = appendEscaped(dst, text, json)
	return append(dst, `\n`+fence...)
}

// appendEscaped appends a text within a JSON string: as json has it, if that is known.
func appendEscaped(dst []byte, text, json string) []byte {
	if json != "" {
		return append(dst, json...)
	}
	return rawjson.AppendEscaped(dst, text)
}

// appendToolRawOutput appends the result as data: what structured output there
// is, or the details of an error.
func appendToolRawOutput(dst []byte, c *mapping.ToolCall) []byte {
	switch {
	case c.Error != nil && (c.Error.Type != "" || c.Error.StatusCode != 0):
		return appendValue(dst, "rawOutput", c.Error)
	case c.Output != nil && c.Output.Data != "":
		return appendRaw(append(dst, `,"rawOutput":`...), c.Output.Data, rawMax)
	case c.Status == mapping.ToolCancelled:
		return append(dst, `,"rawOutput":{"cancelled":true}`...)
	}
	return dst
}

// absolute makes a path absolute against the session's directory: editors take
// no other.
func absolute(cwd, path string) string {
	if path == "" || filepath.IsAbs(path) || strings.HasPrefix(path, "/") || cwd == "" {
		return path
	}
	return filepath.Join(cwd, path)
}

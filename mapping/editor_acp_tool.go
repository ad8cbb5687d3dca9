package mapping

import (
	"strings"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// rawMax is the most that a call's raw input or output may take of an update:
// what matters of it is in the title and the content.
const rawMax = 256 << 10

// tool appends a tool_call, or what has changed as a tool_call_update: omitted
// is unchanged, arrays replace.
func (e *ACP) tool(dst []byte, s *Step) []byte {
	c := s.Tool
	if isPlan(c) && c.Status != ToolFailed {
		if entries, ok := appendPlan(nil, c); ok {
			if s.Changed&ToolHead == 0 {
				return dst
			}
			dst = e.open(dst, "plan")
			dst = append(dst, `,"entries":`...)
			return e.close(append(dst, entries...))
		}
	}
	update := "tool_call_update"
	if s.New || isPlan(c) { // a plan that failed was shown as a plan so far
		update = "tool_call"
	}
	dst = e.open(dst, update)
	dst = append(dst, `,"toolCallId":`...)
	dst = appendString(dst, c.ID)
	return e.close(e.toolFields(dst, c, s.Changed))
}

// toolFields appends the members of a ToolCall that belong to what has changed.
func (e *ACP) toolFields(dst []byte, c *ToolCall, changed ToolChange) []byte {
	if changed&ToolHead != 0 || c.Asks {
		dst = append(dst, `,"title":`...)
		dst = appendString(dst, toolTitle(c))
		dst = append(dst, `,"kind":"`+ToolKind(c)+`"`...)
	}
	if changed&ToolState != 0 {
		dst = append(dst, `,"status":"`+toolStatus(c)+`"`...)
	}
	if changed&ToolHead != 0 && c.Input != "" {
		dst = append(dst, `,"rawInput":`...)
		dst = appendRaw(dst, c.Input)
	}
	if changed&ToolHead != 0 || changed&ToolContent != 0 && toolDiff(c) != nil {
		if path := absolute(e.Cwd, toolPath(c)); path != "" {
			dst = append(dst, `,"locations":[{"path":`...)
			dst = appendString(dst, path)
			dst = append(dst, `}]`...)
		}
	}
	if changed&ToolContent != 0 || c.Status.Ended() {
		dst = appendToolRawOutput(e.toolContent(dst, c), c)
	}
	return dst
}

// appendRaw appends a value for those who look at it, or says how big it is.
func appendRaw(dst []byte, j a2a.JSON) []byte {
	if len(j) > rawMax {
		dst = append(dst, `{"truncated":`...)
		dst = appendString(dst, strings.TrimSpace(cutNote(len(j))))
		return append(dst, '}')
	}
	return appendValue(dst, j)
}

// toolContent appends what a call shows, if anything: the diff first, then text.
func (e *ACP) toolContent(dst []byte, c *ToolCall) []byte {
	diff, text := toolDiff(c), toolText(c)
	if diff == nil && text.text == "" {
		return dst
	}
	dst = append(dst, `,"content":[`...)
	note := ""
	if diff != nil {
		dst = append(dst, `{"type":"diff","path":`...)
		dst = appendString(dst, absolute(e.Cwd, diff.FilePath))
		over := 0
		if diff.OldContent != nil {
			old, rest := split(*diff.OldContent, textMax)
			over += len(rest)
			dst = append(dst, `,"oldText":`...)
			dst = appendString(dst, old)
		}
		now, rest := split(diff.NewContent, textMax)
		over += len(rest)
		dst = append(dst, `,"newText":`...)
		dst = appendString(dst, now)
		dst = append(dst, '}')
		if over > 0 {
			note = strings.TrimPrefix(cutNote(over), "\n") + "\n"
		}
		if note == "" && text.text == "" {
			return append(dst, ']')
		}
		dst = append(dst, ',')
	}
	dst = append(dst, `{"type":"content","content":{"type":"text","text":"`...)
	dst = text.append(appendEscaped(dst, note))
	return append(dst, `"}}]`...)
}

// toolDiff is the change that was made, or is asked for.
func toolDiff(c *ToolCall) *FileDiff {
	if c.Output != nil && c.Output.Diff != nil {
		return c.Output.Diff
	}
	if c.Confirmation != nil && !c.Status.Ended() {
		return c.Confirmation.Edit
	}
	return nil
}

// A shownText is the text that a call shows.
type shownText struct {
	text string
	// known is what is known of text, if it is live output.
	known knownText
	// fenced text is shown as it is, not as Markdown.
	fenced bool
}

// toolText is the text that a call shows: why it failed, what came of it, what
// it has put out so far, or what is asked.
func toolText(c *ToolCall) (t shownText) {
	t.fenced = ToolKind(c) == acp.KindExecute
	switch {
	case c.Error != nil:
		t.text, t.fenced = c.Error.Message, false
	case c.Status == ToolCancelled:
		t.text, t.fenced = "Cancelled", false
	case c.Output != nil && c.Output.Text != "":
		t.text = c.Output.Text
	case c.Output != nil && c.Output.Data != "":
		t.text, t.fenced = string(c.Output.Data), true
	case c.Live != "":
		t.text, t.known = c.Live, c.live
	case c.Confirmation != nil && !c.Status.Ended():
		t.text, t.fenced = askText(c), false
	}
	if over := len(t.text) - textMax; over > 0 {
		// The end of a long output is what tells how it went.
		_, end := split(t.text, over)
		t.text, t.known = strings.TrimPrefix(cutNote(over), "\n")+"\n"+end, knownText{}
	}
	return t
}

// append appends the text within a JSON string.
func (t *shownText) append(dst []byte) []byte {
	text, json := t.text, t.known.json
	if !t.fenced || text == "" {
		return appendKnown(dst, text, json)
	}
	ticks := t.known.ticks
	if json == "" {
		ticks = longestRow(text, '`')
	}
	fence := max(ticks+1, len("```"))
	dst = appendFence(dst, fence)
	dst = append(dst, `\n`...)
	if n := len(text) - len(strings.TrimRight(text, "\n")); n > 0 {
		text = text[:len(text)-n]
		json = json[:max(0, len(json)-n*len(`\n`))]
	}
	dst = appendKnown(dst, text, json)
	dst = append(dst, `\n`...)
	return appendFence(dst, fence)
}

func appendKnown(dst []byte, text, json string) []byte {
	if json != "" {
		return append(dst, json...)
	}
	return appendEscaped(dst, text)
}

func appendFence(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '`')
	}
	return dst
}

// longestRow is the length of the longest row of b in s.
func longestRow(s string, b byte) (longest int) {
	for {
		at := strings.IndexByte(s, b)
		if at < 0 {
			return longest
		}
		s = s[at:]
		n := 1
		for n < len(s) && s[n] == b {
			n++
		}
		longest, s = max(longest, n), s[n:]
	}
}

// askText says what is asked, beyond the title.
func askText(c *ToolCall) string {
	q := c.Confirmation
	switch {
	case q.Execute != nil && q.Execute.WorkingDirectory != "":
		text := "in " + q.Execute.WorkingDirectory
		if c.Description != "" && c.Description != q.Execute.Command {
			text = c.Description + "\n" + text
		}
		return text
	case q.Generic != nil:
		return q.Generic.Description
	case q.Edit != nil:
		return ""
	case q.Execute != nil && strings.TrimSpace(c.Description) == strings.TrimSpace(q.Execute.Command):
		return ""
	}
	return c.Description
}

// appendToolRawOutput appends the result as data: what structured output there
// is, or the details of an error.
func appendToolRawOutput(dst []byte, c *ToolCall) []byte {
	const member = `,"rawOutput":`
	switch {
	case c.Error != nil && (c.Error.Type != "" || c.Error.StatusCode != 0):
		return appendError(append(dst, member...), c.Error)
	case c.Output != nil && c.Output.Data != "":
		return appendRaw(append(dst, member...), c.Output.Data)
	case c.Status == ToolCancelled:
		return append(append(dst, member...), `{"cancelled":true}`...)
	}
	return dst
}

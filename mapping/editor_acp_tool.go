package mapping

import (
	"strings"

	"github.com/tidwall/gjson"

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
		if content := e.toolContent(c); len(content) > 0 {
			dst = append(dst, `,"content":[`...)
			dst = append(dst, content...)
			dst = append(dst, ']')
		}
		if raw := toolRawOutput(c); raw != nil {
			dst = append(dst, `,"rawOutput":`...)
			dst = append(dst, raw...)
		}
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

// toolContent appends what a call shows, without the brackets: the diff first,
// then text.
func (e *ACP) toolContent(c *ToolCall) []byte {
	var dst []byte
	diff, text := toolDiff(c), toolText(c)
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
			text = strings.TrimPrefix(cutNote(over), "\n") + "\n" + text
		}
	}
	if text != "" {
		if len(dst) > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"type":"content","content":{"type":"text","text":`...)
		dst = appendString(dst, text)
		dst = append(dst, `}}`...)
	}
	return dst
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

// toolText is the text that a call shows: why it failed, what came of it, what
// it has put out so far, or what is asked.
func toolText(c *ToolCall) string {
	fenced := ToolKind(c) == acp.KindExecute
	var text string
	switch {
	case c.Error != nil:
		text, fenced = c.Error.Message, false
	case c.Status == ToolCancelled:
		text, fenced = "Cancelled", false
	case c.Output != nil && c.Output.Text != "":
		text = c.Output.Text
	case c.Output != nil && c.Output.Data != "":
		text, fenced = string(c.Output.Data), true
	case c.Live != "":
		text = c.Live
	case c.Confirmation != nil && !c.Status.Ended():
		text, fenced = askText(c), false
	}
	if over := len(text) - textMax; over > 0 {
		// The end of a long output is what tells how it went.
		_, text = split(text, over)
		text = strings.TrimPrefix(cutNote(over), "\n") + "\n" + text
	}
	if fenced && text != "" {
		fence := "```"
		for strings.Contains(text, fence) {
			fence += "`"
		}
		text = fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
	}
	return text
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

// toolRawOutput is the result as data: what structured output there is, or the
// details of an error.
func toolRawOutput(c *ToolCall) []byte {
	switch {
	case c.Error != nil && (c.Error.Type != "" || c.Error.StatusCode != 0):
		raw, _ := marshal(errorJSON(c.Error))
		return raw
	case c.Output != nil && c.Output.Data != "":
		return appendRaw(nil, c.Output.Data)
	case c.Status == ToolCancelled:
		return []byte(`{"cancelled":true}`)
	}
	return nil
}

// fileMax is the largest file, in bytes of base64, that is handed on inline.
const fileMax = 4 << 20

// acpContent spells a part as an ACP content block; where there is none for it,
// note is what to say instead.
func acpContent(s *Step) (content []byte, note string) {
	p := s.Part
	name := p.File.Name
	if name == "" {
		name = s.Name
	}
	if name == "" {
		name = "file"
	}
	member := func(key, value string) {
		content = append(content, `,"`+key+`":`...)
		content = appendString(content, value)
	}
	media, _, _ := strings.Cut(p.File.MediaType, "/")
	switch {
	case p.Kind == a2a.PartFile && p.File.URI != "":
		content = append(content, `{"type":"resource_link"`...)
		member("name", name)
		member("uri", p.File.URI)
		if p.File.MediaType != "" {
			member("mimeType", p.File.MediaType)
		}
		return append(content, '}'), ""
	case p.Kind == a2a.PartFile && len(p.File.Bytes) > fileMax:
		return nil, "[" + name + ": " + p.File.MediaType + cutNote(len(p.File.Bytes) / 4 * 3)[1:] + "]"
	case p.Kind == a2a.PartFile && (media == "image" || media == "audio"):
		content = append(content, `{"type":"`+media+`"`...)
		member("data", p.File.Bytes)
		member("mimeType", p.File.MediaType)
		return append(content, '}'), ""
	case p.Kind == a2a.PartFile:
		content = append(content, `{"type":"resource","resource":{"uri":`...)
		content = appendString(content, "attachment:"+name)
		if p.File.MediaType != "" {
			member("mimeType", p.File.MediaType)
		}
		member("blob", p.File.Bytes)
		return append(content, "}}"...), ""
	}
	raw := string(p.Data)
	if raw == "" {
		raw = string(p.Raw)
	}
	raw, rest := split(raw, textMax)
	note = "```json\n" + strings.TrimSpace(gjson.Get(raw, "@pretty").Raw) + "\n```\n"
	if rest != "" {
		note = "```json\n" + raw + cutNote(len(rest)) + "\n```\n"
	}
	return nil, note
}

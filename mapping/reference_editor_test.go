package mapping

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// This file is how tool calls were spelled before anything was known of a text that grows:
// each time all of it.

func refTool(e *ACP, dst []byte, s *Step) []byte {
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
	dst = appendString(dst, c.Shown)
	fields := refToolFields(e, nil, c, s.Changed)
	if s.Changed&ToolCleared != 0 && !gjson.Get("{\"id\":0"+string(fields)+"}", "content").Exists() {
		fields = append(fields, `,"content":[]`...)
	}
	return e.close(append(dst, fields...))
}

func refToolFields(e *ACP, dst []byte, c *ToolCall, changed ToolChange) []byte {
	if changed&ToolHead != 0 || c.Asks {
		dst = append(dst, `,"title":`...)
		dst = appendString(dst, refToolTitle(c))
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
		if path := absolute(e.Cwd, refToolPath(c)); path != "" {
			dst = append(dst, `,"locations":[{"path":`...)
			dst = appendString(dst, path)
			dst = append(dst, `}]`...)
		}
	}
	if changed&ToolContent != 0 || c.Status.Ended() {
		if content := refToolContent(e, c); len(content) > 0 {
			dst = append(dst, `,"content":[`...)
			dst = append(dst, content...)
			dst = append(dst, ']')
		}
		if raw := refToolRawOutput(c); raw != nil {
			dst = append(dst, `,"rawOutput":`...)
			dst = append(dst, raw...)
		}
	}
	return dst
}

func refToolContent(e *ACP, c *ToolCall) []byte {
	var dst []byte
	diff, text := toolDiff(c), refToolText(e, c)
	if diff != nil && (diff.Formatted == "" || diff.NewContent != "" || diff.OldContent != nil) {
		dst = append(dst, `{"type":"diff","path":`...)
		dst = appendString(dst, absolute(e.Cwd, diff.FilePath))
		over := 0
		if diff.OldContent != nil {
			old, rest := ask.Split(*diff.OldContent, textMax)
			over += len(rest)
			dst = append(dst, `,"oldText":`...)
			dst = appendString(dst, old)
		}
		now, rest := ask.Split(diff.NewContent, textMax)
		over += len(rest)
		dst = append(dst, `,"newText":`...)
		dst = appendString(dst, now)
		dst = append(dst, '}')
		if over > 0 {
			text = strings.TrimPrefix(ask.MoreNote(over), "\n") + "\n" + text
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

// refEscapes are the sequences that terminals act on (ECMA-48, and xterm's strings).
var refEscapes = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]?|[\\]PX^_](?s:.*?)(?:\x07|\x1b\\\\|\\z)|[ -/]*[0-~]?)")

func refToolText(e *ACP, c *ToolCall) string {
	fenced := ToolKind(c) == acp.KindExecute
	var text string
	switch {
	case c.Asks && c.Confirmation != nil:
		text, fenced = ask.Text(c, e.Cwd)+ask.OptionsText(e.options), false
	case c.Error != nil:
		text, fenced = c.Error.Message, false
		if code := fmt.Sprint(c.Error.StatusCode); code != "0" && !strings.Contains(text, code) {
			word := " (status "
			if ToolKind(c) == acp.KindExecute {
				word = " (exit code "
			}
			text = strings.TrimSpace(text + word + code + ")")
		}
	case c.Status == ToolCancelled:
		text, fenced = "Cancelled", false
	case c.Output != nil && c.Output.Text != "":
		text = c.Output.Text
	case c.Output != nil && c.Output.Data != "":
		text, fenced = string(c.Output.Data), true
	case c.Output != nil && c.Output.Diff != nil:
	case c.OutputSoFar != "":
		text = c.OutputSoFar
	case c.Confirmation != nil && !c.Status.Ended():
		text, fenced = ask.Text(c, e.Cwd)+ask.OptionsText(e.options), false
	case c.Description != "" && !strings.Contains(refToolTitle(c), ask.OneLine(c.Description)):
		text, fenced = c.Description, false
	}
	if d := toolDiff(c); text == "" && d != nil && d.NewContent == "" && d.OldContent == nil {
		text, fenced = d.Formatted, true
	}
	text = refEscapes.ReplaceAllString(text, "")
	if over := len(text) - textMax; over > 0 {
		// The end of a long output is what tells how it went.
		_, text = ask.Split(text, over)
		text = strings.TrimPrefix(ask.MoreNote(over), "\n") + "\n" + text
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

func refToolRawOutput(c *ToolCall) []byte {
	switch {
	case c.Error != nil && (c.Error.Type != "" || c.Error.StatusCode != 0):
		raw, _ := marshal(errorDetailsJSON{c.Error.Message, c.Error.Type, c.Error.StatusCode})
		return raw
	case c.Output != nil && c.Output.Data != "":
		return appendRaw(nil, c.Output.Data)
	case c.Status == ToolCancelled:
		return []byte(`{"cancelled":true}`)
	}
	return nil
}

func refToolPath(c *ToolCall) string {
	if c.Output != nil && c.Output.Diff != nil && c.Output.Diff.FilePath != "" {
		return c.Output.Diff.FilePath
	}
	if c.Confirmation != nil && c.Confirmation.Edit != nil && c.Confirmation.Edit.FilePath != "" {
		return c.Confirmation.Edit.FilePath
	}
	for _, name := range []string{"file_path", "filePath", "absolute_path", "path", "dir_path"} {
		if p := gjson.Get(string(c.Input), name); p.Type == gjson.String && p.Str != "" {
			return p.Str
		}
	}
	return ""
}

func refToolTitle(c *ToolCall) string {
	if q := c.Confirmation; q != nil {
		switch {
		case q.Execute != nil && q.Execute.Command != "":
			return ask.OneLine(q.Execute.Command)
		case q.MCP != nil:
			return ask.OneLine(cmp.Or(q.MCP.ServerName, "(no name)") + ": " + cmp.Or(q.MCP.ToolName, "(no name)"))
		}
	}
	name := c.DisplayName
	if name == "" {
		name = c.Name
	}
	input := gjson.Parse(string(c.Input))
	if ToolKind(c) == acp.KindExecute {
		if command := input.Get("command"); command.Type == gjson.String {
			return ask.OneLine(command.Str)
		}
	}
	detail := c.Description
	if path := refToolPath(c); path != "" && ToolKind(c) != acp.KindExecute {
		detail = filepath.Base(path)
	}
	switch {
	case detail == "" || detail == name:
		return ask.OneLine(name)
	case name == "":
		return ask.OneLine(detail)
	}
	return ask.OneLine(name + ": " + detail)
}

package spell

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// appendToolCall appends a call as the development-tool extension spells it
// (ToolCall), whatever dialect it came in. Members that we do not know are under extra.
func appendToolCall(dst []byte, c *mapping.ToolCall) []byte {
	dst = rawjson.AppendString(append(dst, `{"tool_call_id":`...), c.ID)
	dst = append(dst, `,"status":"`...)
	dst = append(dst, c.Status.String()...)
	dst = append(dst, '"')
	dst = rawjson.AppendField(dst, "tool_name", c.Name)
	dst = appendOptional(dst, "description", c.Description)
	dst = appendCompact(dst, "input_parameters", c.Input)
	if c.OutputSoFar != "" {
		dst = append(dst, `,"live_content":"`...)
		dst = append(appendKnown(dst, c.OutputSoFar, c.OutputJSON()), '"')
	}
	if c.Output != nil {
		dst = appendOutput(append(dst, `,"output":`...), c.Output)
	}
	if c.Error != nil {
		dst = appendError(append(dst, `,"error":`...), c.Error)
	}
	// It is there while it is asked, by the RFC.
	if c.Confirmation != nil && c.Asks {
		dst = appendConfirmation(append(dst, `,"confirmation_request":`...), c)
	}
	dst = appendCompact(dst, "extra", c.Extra)
	return append(dst, '}')
}

func appendOutput(dst []byte, o *mapping.ToolOutput) []byte {
	from := len(dst)
	if o.Text != "" || o.Diff == nil && o.Data == "" {
		dst = rawjson.AppendField(dst, "text", o.Text)
	}
	if o.Diff != nil {
		dst = appendDiff(append(dst, `,"diff":`...), o.Diff)
	}
	dst = appendCompact(dst, "structured_data", o.Data)
	dst[from] = '{' // where the first member's comma is
	return append(dst, '}')
}

func appendDiff(dst []byte, d *mapping.FileDiff) []byte {
	dst = rawjson.AppendString(append(dst, `{"file_name":`...), d.FileName)
	dst = rawjson.AppendField(dst, "file_path", d.FilePath)
	if d.OldContent != nil {
		dst = rawjson.AppendField(dst, "old_content", *d.OldContent)
	}
	dst = rawjson.AppendField(dst, "new_content", d.NewContent)
	dst = appendOptional(dst, "formatted_diff", d.Formatted)
	return append(dst, '}')
}

func appendError(dst []byte, e *mapping.ErrorDetails) []byte {
	dst = rawjson.AppendString(append(dst, `{"message":`...), e.Message)
	dst = appendOptional(dst, "type", e.Type)
	if e.StatusCode != 0 {
		dst = append(dst, `,"status_code":`...)
		dst = strconv.AppendInt(dst, int64(e.StatusCode), 10)
	}
	return append(dst, '}')
}

func appendConfirmation(dst []byte, c *mapping.ToolCall) []byte {
	q := c.Confirmation
	dst = append(dst, `{"options":[`...)
	for i, o := range mapping.NewQuestion(c).Options {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(append(dst, `{"id":`...), o.ID)
		dst = rawjson.AppendField(dst, "name", o.Name)
		dst = appendOptional(dst, "description", o.Description)
		dst = append(dst, '}')
	}
	dst = appendDetails(append(dst, ']'), q)
	dst = appendCompact(dst, "extra", q.Unread)
	return append(dst, '}')
}

// appendDetails appends the members that say what is asked, each behind a comma.
func appendDetails(dst []byte, q *mapping.Confirmation) []byte {
	if q.Execute != nil {
		dst = rawjson.AppendString(append(dst, `,"execute_details":{"command":`...), q.Execute.Command)
		dst = appendOptional(dst, "working_directory", q.Execute.WorkingDirectory)
		dst = append(dst, '}')
	}
	if q.Edit != nil {
		dst = appendDiff(append(dst, `,"file_edit_details":`...), q.Edit)
	}
	if q.MCP != nil {
		dst = rawjson.AppendString(append(dst, `,"mcp_details":{"server_name":`...), q.MCP.ServerName)
		dst = rawjson.AppendField(dst, "tool_name", q.MCP.ToolName)
		dst = append(dst, '}')
	}
	if q.Generic != nil {
		dst = rawjson.AppendString(append(dst, `,"generic_details":{"description":`...), q.Generic.Description)
		dst = append(dst, '}')
	}
	return dst
}

func appendOptional(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return rawjson.AppendField(dst, key, value)
}

// appendCompact appends a member whose value is from outside, if there is one,
// without the blanks that some encoders (Python's) put between its members.
func appendCompact(dst []byte, key string, j a2a.JSON) []byte {
	if j == "" {
		return dst
	}
	dst = append(dst, `,"`...)
	dst = append(dst, key...)
	dst = append(dst, `":`...)
	from := len(dst)
	dst = rawjson.AppendValue(dst, string(j))
	if !spaced(dst[from:]) {
		return dst
	}
	var b bytes.Buffer
	if json.Compact(&b, dst[from:]) == nil {
		dst = append(dst[:from], b.Bytes()...)
	}
	return dst
}

// spaced reports whether there is white space beside the first element or member of a
// value: an encoder that writes any writes it there.
func spaced(b []byte) bool {
	if len(b) < 2 || b[0] != '{' && b[0] != '[' {
		return false
	}
	s := rawjson.View(b)
	i := 1
	if b[0] == '{' {
		if i = rawjson.SkipString(s, i); b[1] != '"' || i >= len(s) || s[i] != ':' {
			return s[1] != '}'
		}
		i++
	}
	end := rawjson.SkipValue(s, i)
	if end == i || end+1 >= len(s) {
		return rawjson.SkipSpace(s, i) != i
	}
	return rawjson.SkipSpace(s, end) != end || s[end] == ',' && rawjson.SkipSpace(s, end+1) != end+1
}

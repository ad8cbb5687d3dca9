package spell

import (
	"strconv"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
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
	dst = rawjson.AppendJSON(dst, "input_parameters", string(c.Input))
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
	dst = rawjson.AppendJSON(dst, "extra", string(c.Extra))
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
	dst = rawjson.AppendJSON(dst, "structured_data", string(o.Data))
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
	return append(appendDetails(append(dst, ']'), q), '}')
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
	return rawjson.AppendJSON(dst, "extra", string(q.Unread))
}

// appendFields appends members whose values are strings: keys and values in turns.
func appendFields(dst []byte, fields ...string) []byte {
	for i := 0; i < len(fields); i += 2 {
		dst = rawjson.AppendField(dst, fields[i], fields[i+1])
	}
	return dst
}

func appendOptional(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return rawjson.AppendField(dst, key, value)
}

func appendNumber(dst []byte, key string, n uint8) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendUint(append(append(append(dst, `,"`...), key...), `":`...), uint64(n), 10)
}

package spell

import (
	"strconv"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// appendToolCall appends a call as the development-tool extension spells it
// (ToolCall), whatever dialect it came in. Members that we do not know are under extra. all: it is for
// a journal, which keeps what the extension has no words for, and what was asked before; its status is a
// number, and JSON in it a string.
func appendToolCall(dst []byte, c *mapping.ToolCall, all bool) []byte {
	dst = rawjson.AppendString(append(dst, `{"tool_call_id":`...), c.ID)
	if all {
		dst = appendNumber(appendOptional(dst, "shown", c.Shown), "status", uint8(c.Status))
	} else {
		dst = rawjson.AppendField(dst, "status", c.Status.String())
	}
	if c.Name != "" || !all {
		dst = rawjson.AppendField(dst, "tool_name", c.Name)
	}
	dst = appendOptional(dst, "description", c.Description)
	dst = appendJSON(dst, "input_parameters", c.Input, all)
	if c.OutputSoFar != "" {
		dst = append(dst, `,"live_content":"`...)
		dst = append(appendKnown(dst, c.OutputSoFar, c.OutputJSON()), '"')
	}
	if c.Output != nil {
		dst = appendOutput(append(dst, `,"output":`...), c.Output, all)
	}
	if c.Error != nil {
		dst = appendError(append(dst, `,"error":`...), c.Error)
	}
	// It is there while it is asked, by the RFC.
	if c.Confirmation != nil && (c.Asks || all) {
		dst = appendConfirmation(append(dst, `,"confirmation_request":`...), c, all)
	}
	dst = appendJSON(dst, "extra", c.Extra, all)
	if all {
		for _, f := range [...][2]string{{"display_name", c.DisplayName}, {"kind", c.Kind}, {"note", c.Note}, {"question_id", c.QuestionID}} {
			dst = appendOptional(dst, f[0], f[1])
		}
		dst = appendNumber(dst, "dialect", c.Dialect)
		dst = appendTrue(appendTrue(appendTrue(dst, "asks", c.Asks), "bare", c.Bare), "differences", c.Differences)
	}
	return append(dst, '}')
}

func appendOutput(dst []byte, o *mapping.ToolOutput, all bool) []byte {
	from := len(dst)
	if o.Text != "" || o.Diff == nil && o.Data == "" {
		dst = rawjson.AppendField(dst, "text", o.Text)
	}
	if o.Diff != nil {
		dst = appendDiff(append(dst, `,"diff":`...), o.Diff)
	}
	dst = appendJSON(dst, "structured_data", o.Data, all)
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

// appendConfirmation appends what is asked, with the choices that the user has; for a journal with those
// that the agent has named.
func appendConfirmation(dst []byte, c *mapping.ToolCall, all bool) []byte {
	options := c.Confirmation.Options
	if !all {
		options = nil
		for _, o := range mapping.NewQuestion(c).Options {
			options = append(options, mapping.ConfirmationOption{ID: o.ID, Name: o.Name, Description: o.Description})
		}
	}
	dst = append(dst, `{"options":[`...)
	for i, o := range options {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(append(dst, `{"id":`...), o.ID)
		dst = rawjson.AppendField(dst, "name", o.Name)
		dst = append(appendOptional(dst, "description", o.Description), '}')
	}
	return append(appendDetails(append(dst, ']'), c.Confirmation, all), '}')
}

// appendDetails appends the members that say what is asked, each behind a comma.
func appendDetails(dst []byte, q *mapping.Confirmation, all bool) []byte {
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
		if dst = rawjson.AppendString(append(dst, `,"generic_details":{"description":`...), q.Generic.Description); all {
			dst = appendOptional(dst, "kind", q.Generic.Kind)
		}
		dst = append(dst, '}')
	}
	return appendJSON(dst, "extra", q.Unread, all)
}

// appendJSON appends a member whose value is JSON, or a string that holds it.
func appendJSON(dst []byte, key string, value a2a.JSON, asString bool) []byte {
	if asString {
		return appendOptional(dst, key, string(value))
	}
	return rawjson.AppendJSON(dst, key, string(value))
}

func appendTrue(dst []byte, key string, is bool) []byte {
	if !is {
		return dst
	}
	return append(append(append(dst, `,"`...), key...), `":true`...)
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

package mapping

import (
	"regexp"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is how tool calls were read before they were read in one walk: a
// lookup for each member. FuzzToolCalls holds the two ways equal.

func refRead(data gjson.Result) *ToolCall {
	if c := refDevtool(data); c != nil && c.ID != "" {
		return c
	}
	if c := refGemini(data); c != nil && c.ID != "" {
		return c
	}
	return nil
}

func refGemini(data gjson.Result) *ToolCall {
	request := data.Get("request")
	if !request.Get("callId").Exists() || !data.Get("status").Exists() {
		return nil
	}
	c := &ToolCall{
		ID:          request.Get("callId").String(),
		Name:        request.Get("name").String(),
		Description: request.Get("display.description").String(),
		Input:       a2a.JSON(request.Get("args").Raw),
		DisplayName: request.Get("display.name").String(),
		Kind:        geminiKind(data.Get("tool.kind").Str),
	}
	if c.DisplayName == "" {
		c.DisplayName = data.Get("tool.displayName").String()
	}
	if details := data.Get("confirmationDetails"); details.IsObject() {
		c.Confirmation = refGeminiConfirmation(details)
	}
	switch data.Get("status").Str {
	case "validating", "scheduled":
		c.Status = ToolPending
	case "awaiting_approval":
		c.Status = ToolPending
		c.Asks = !data.Get("outcome").Exists()
		if c.Confirmation == nil {
			c.Confirmation = &Confirmation{}
		}
	case "executing":
		c.Status = ToolExecuting
		c.OutputSoFar = data.Get("liveOutput").String()
	case "success":
		c.Status = ToolSucceeded
		c.Output = refGeminiOutput(data.Get("response"))
	case "error":
		c.Status = ToolFailed
		c.Error = refGeminiError(data.Get("response"))
	case "cancelled":
		c.Status = ToolCancelled
	}
	return c
}

func refGeminiConfirmation(v gjson.Result) *Confirmation {
	c := &Confirmation{}
	switch kind := v.Get("type").Str; kind {
	case "exec", "sandbox_expansion":
		c.Execute = &ExecuteDetails{Command: v.Get("command").String()}
		if more := v.Get("additionalPermissions").Raw; kind != "exec" {
			if more == "" {
				more = "{}"
			}
			c.Unread = a2a.JSON(`{"type":` + v.Get("type").Raw + `,"additionalPermissions":` + more + `}`)
		}
	case "edit":
		c.Edit = refGeminiDiff(v)
	case "mcp":
		c.MCP = &MCPDetails{ServerName: v.Get("serverName").String(), ToolName: v.Get("toolName").String()}
	default:
		c.Generic = &GenericDetails{Kind: kind, Description: geminiDescription(v)}
	}
	return c
}

func refGeminiDiff(v gjson.Result) *FileDiff {
	d := &FileDiff{
		FileName:   v.Get("fileName").String(),
		FilePath:   v.Get("filePath").String(),
		NewContent: v.Get("newContent").String(),
		Formatted:  v.Get("fileDiff").String(),
	}
	if old := v.Get("originalContent"); old.Type == gjson.String && old.Str != "" && !v.Get("isNewFile").Bool() {
		s := old.Str
		d.OldContent = &s
	}
	return d
}

func refGeminiOutput(response gjson.Result) *ToolOutput {
	switch display := response.Get("resultDisplay"); {
	case display.Type == gjson.String:
		return &ToolOutput{Text: refTrimScreen(display.Str)}
	case display.IsArray():
		return &ToolOutput{Text: terminalText(display)}
	case display.IsObject() && display.Get("newContent").Exists() && display.Get("filePath").Exists():
		return &ToolOutput{Diff: refGeminiDiff(display)}
	case display.IsObject():
		return &ToolOutput{Text: display.Get("summary").String(), Data: a2a.JSON(display.Raw)}
	}
	return &ToolOutput{}
}

func refGeminiError(response gjson.Result) *ErrorDetails {
	e := &ErrorDetails{Message: response.Get("resultDisplay").String(), Type: response.Get("errorType").String()}
	if e.Message == "" {
		e.Message = response.Get("error.message").String()
	}
	if e.Message == "" {
		e.Message = "the tool failed and the agent does not say why"
	}
	return e
}

func refDevtool(data gjson.Result) *ToolCall {
	if !first(data, "tool_call_id", "toolCallId").Exists() || first(data, "selected_option_id", "selectedOptionId").Exists() {
		return nil
	}
	c := &ToolCall{}
	data.ForEach(func(k, v gjson.Result) bool {
		if v.Type == gjson.Null {
			return true
		}
		switch k.Str {
		case "tool_call_id", "toolCallId":
			c.ID = v.String()
		case "status":
			c.Status = devtoolStatus(v)
		case "tool_name", "toolName":
			c.Name = v.String()
		case "description":
			c.Description = v.String()
		case "input_parameters", "inputParameters":
			c.Input = a2a.JSON(v.Raw)
		case "live_content", "liveContent":
			c.OutputSoFar = v.String()
		case "output":
			c.Output = refDevtoolOutput(v)
		case "error":
			c.Error = refDevtoolError(v)
		case "confirmation_request", "confirmationRequest":
			c.Confirmation = devtoolConfirmation(v)
		default:
			c.Extra = refAppendMember(c.Extra, string(appendString(nil, k.Str)), v.Raw)
		}
		return true
	})
	c.Asks = c.Confirmation != nil && c.Status == ToolPending
	return c
}

func refDevtoolOutput(v gjson.Result) *ToolOutput {
	if v.Type == gjson.String {
		return &ToolOutput{Text: v.Str}
	}
	o := &ToolOutput{Text: v.Get("text").String()}
	if diff := v.Get("diff"); diff.IsObject() {
		o.Diff = refDevtoolDiff(diff)
	}
	if data := first(v, "structured_data", "structuredData"); data.Exists() {
		o.Data = a2a.JSON(data.Raw)
	}
	return o
}

func refDevtoolError(v gjson.Result) *ErrorDetails {
	if v.Type == gjson.String {
		return &ErrorDetails{Message: v.Str}
	}
	return &ErrorDetails{
		Message:    v.Get("message").String(),
		Type:       v.Get("type").String(),
		StatusCode: int(first(v, "status_code", "statusCode").Int()),
	}
}

func refDevtoolDiff(v gjson.Result) *FileDiff {
	d := &FileDiff{
		FileName:   first(v, "file_name", "fileName").String(),
		FilePath:   first(v, "file_path", "filePath").String(),
		NewContent: first(v, "new_content", "newContent").String(),
		Formatted:  first(v, "formatted_diff", "formattedDiff").String(),
	}
	if old := first(v, "old_content", "oldContent"); old.Exists() {
		s := old.String()
		d.OldContent = &s
	}
	return d
}

// refAppendMember adds a member to an object in text form.
func refAppendMember(o a2a.JSON, key, value string) a2a.JSON {
	if o == "" {
		return a2a.JSON("{" + key + ":" + value + "}")
	}
	return o[:len(o)-1] + a2a.JSON(","+key+":"+value+"}")
}

// refTrimScreen is trimScreen by regular expressions.
func refTrimScreen(s string) string {
	if !regexp.MustCompile(`  (\n|\z)`).MatchString(s) {
		return s
	}
	s = regexp.MustCompile(` +(\n|\z)`).ReplaceAllString(s, "$1")
	return regexp.MustCompile(`\n*\z`).ReplaceAllString(s, "") + "\n"
}

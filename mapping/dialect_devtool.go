package mapping

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// devtool is the dialect of the RFC "Gemini CLI A2A Development-Tool Extension"
// (its §3.2). Metadata is keyed by the extension's URI; enum values are taken as
// names, as names with the enum's prefix, and as proto numbers; members in
// snake_case and in lowerCamelCase, as proto-JSON writes and accepts them.
type devtool struct{}

func (devtool) name() string { return DialectDevtool }

func (devtool) sign() string { return "developer-profile" }

func (devtool) meta(metadata a2a.JSON, m *meta) (found bool) {
	gjson.Parse(string(metadata)).ForEach(func(key, event gjson.Result) bool {
		if !isDevtoolURI(key.Str) || !event.IsObject() {
			return true
		}
		found, m.uri = true, key.Str
		event.ForEach(func(k, v gjson.Result) bool {
			switch k.Str {
			case "kind":
				m.kind = devtoolKind(v)
			case "model":
				m.model = v.Str
			case "user_tier", "userTier":
				m.userTier = v.Str
			case "error":
				m.err = v.String()
			}
			return true
		})
		return false
	})
	return found
}

func devtoolKind(v gjson.Result) eventKind {
	switch n, name := enum(v, "DEVELOPMENT_TOOL_EVENT_KIND_"); {
	case n == 1 || name == "TOOL_CALL_CONFIRMATION":
		return kindConfirmation
	case n == 2 || name == "TOOL_CALL_UPDATE":
		return kindUpdate
	case n == 3 || name == "TEXT_CONTENT":
		return kindText
	case n == 4 || name == "STATE_CHANGE":
		return kindState
	case n == 5 || name == "THOUGHT":
		return kindThought
	}
	return kindUnsaid
}

// enum returns an enum value as its number, or as its name without the prefix.
func enum(v gjson.Result, prefix string) (number int, name string) {
	if v.Type == gjson.Number {
		return int(v.Num), ""
	}
	return -1, strings.TrimPrefix(strings.ToUpper(v.Str), prefix)
}

func (devtool) callID(data object) (id string, ok bool) {
	raw := data.get("tool_call_id", "toolCallId")
	id = stringOf(raw)
	return id, id != "" && data.get("selected_option_id", "selectedOptionId") == ""
}

func (devtool) rides() string { return "" }

func (d devtool) toolCall(data object, c *ToolCall) {
	c.dialect = d
	var extra []byte
	for i := range data {
		raw := data[i].value
		if raw == "null" {
			continue
		}
		switch data[i].key {
		case "tool_call_id", "toolCallId":
			c.ID = stringOf(raw)
		case "status":
			c.Status = devtoolStatus(gjson.Parse(raw))
		case "tool_name", "toolName":
			c.Name = stringOf(raw)
		case "description":
			c.Description = stringOf(raw)
		case "input_parameters", "inputParameters":
			c.Input = a2a.JSON(raw)
		case "live_content", "liveContent":
			c.setLive(raw)
		case "output":
			c.Output = devtoolOutput(raw)
		case "error":
			c.Error = devtoolError(raw)
		case "confirmation_request", "confirmationRequest":
			c.Confirmation = devtoolConfirmation(gjson.Parse(raw))
		default:
			sep := byte(',')
			if extra == nil {
				sep = '{'
			}
			extra = append(append(appendString(append(extra, sep), data[i].key), ':'), raw...)
		}
	}
	if extra != nil {
		c.Extra = a2a.JSON(append(extra, '}'))
	}
	c.Asks = c.Confirmation != nil && c.Status == ToolPending
}

func devtoolStatus(v gjson.Result) ToolStatus {
	n, name := enum(v, "TOOL_CALL_STATUS_")
	for i, s := range toolStatusNames {
		if n == i || name == s || name == "STATUS_"+s {
			return ToolStatus(i)
		}
	}
	return ToolUnspecified
}

func devtoolOutput(raw string) *ToolOutput {
	if rawjson.IsString(raw) {
		return &ToolOutput{Text: stringOf(raw)}
	}
	var room [8]member
	v := readObject(room[:0], raw, nil)
	o := &ToolOutput{Text: stringOf(v.get("text"))}
	if diff := v.get("diff"); rawjson.IsObject(diff) {
		o.Diff = devtoolDiff(diff)
	}
	o.Data = a2a.JSON(v.get("structured_data", "structuredData"))
	return o
}

func devtoolError(raw string) *ErrorDetails {
	if rawjson.IsString(raw) {
		return &ErrorDetails{Message: stringOf(raw)}
	}
	var room [8]member
	v := readObject(room[:0], raw, nil)
	return &ErrorDetails{
		Message:    stringOf(v.get("message")),
		Type:       stringOf(v.get("type")),
		StatusCode: int(gjson.Parse(v.get("status_code", "statusCode")).Int()),
	}
}

func devtoolDiff(raw string) *FileDiff {
	var room [8]member
	v := readObject(room[:0], raw, nil)
	d := &FileDiff{
		FileName:   stringOf(v.get("file_name", "fileName")),
		FilePath:   stringOf(v.get("file_path", "filePath")),
		NewContent: stringOf(v.get("new_content", "newContent")),
		Formatted:  stringOf(v.get("formatted_diff", "formattedDiff")),
	}
	if old := v.get("old_content", "oldContent"); old != "" {
		s := stringOf(old)
		d.OldContent = &s
	}
	return d
}

func devtoolConfirmation(v gjson.Result) *Confirmation {
	c := &Confirmation{}
	v.Get("options").ForEach(func(_, o gjson.Result) bool {
		c.Options = append(c.Options, ConfirmationOption{
			ID: o.Get("id").String(), Name: o.Get("name").String(), Description: o.Get("description").String()})
		return true
	})
	if d := first(v, "execute_details", "executeDetails"); d.IsObject() {
		c.Execute = &ExecuteDetails{Command: d.Get("command").String(),
			WorkingDirectory: first(d, "working_directory", "workingDirectory").String()}
	}
	if d := first(v, "file_edit_details", "fileEditDetails"); d.IsObject() {
		c.Edit = devtoolDiff(d.Raw)
	}
	if d := first(v, "mcp_details", "mcpDetails"); d.IsObject() {
		c.MCP = &MCPDetails{ServerName: first(d, "server_name", "serverName").String(),
			ToolName: first(d, "tool_name", "toolName").String()}
	}
	if d := first(v, "generic_details", "genericDetails"); d.IsObject() {
		c.Generic = &GenericDetails{Description: d.Get("description").String()}
	}
	return c
}

// liveOutput: the RFC has live_content for it.
func (devtool) liveOutput(*a2a.Artifact) (string, sentText, bool) { return "", sentText{}, false }

// options: the agent says which there are. One that forgets gets the two
// without which nobody could answer.
func (devtool) options(*ToolCall) []ConfirmationOption {
	return []ConfirmationOption{{ID: "proceed_once", Name: "Allow"}, {ID: "cancel", Name: "Reject"}}
}

func (devtool) answer(a Answer) (json.RawMessage, error) {
	type modified struct {
		FileDetails struct {
			NewContent string `json:"new_content"`
		} `json:"file_details"`
	}
	v := struct {
		ID       string    `json:"tool_call_id"`
		Option   string    `json:"selected_option_id"`
		Modified *modified `json:"modified_details,omitempty"`
	}{ID: a.Call.ID, Option: a.OptionID}
	if a.NewContent != nil {
		v.Modified = &modified{}
		v.Modified.FileDetails.NewContent = *a.NewContent
	}
	return marshal(v)
}

package dialect

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// devtool is the dialect of the RFC "Gemini CLI A2A Development-Tool Extension"
// (its §3.2). Metadata is keyed by the extension's URI; enum values are taken as
// names, as names with the enum's prefix, and as proto numbers; members in
// snake_case and in lowerCamelCase, as proto-JSON writes and accepts them.
type devtool struct{ base }

func (devtool) about() about {
	return about{name: Devtool, sign: "developer-profile",
		traits: Traits{Approvals: true, ContinuesCompleted: true, ServersInSettings: true, TakesContent: true}}
}

func (devtool) settings(s AgentSettings, uri string) (key string, members map[string]any) {
	members = map[string]any{"workspace_path": s.Workspace}
	if len(s.MCPServers) > 0 {
		members["mcp_servers"] = s.MCPServers
	}
	return uri, members
}

// commands: RFC, GetAllSlashCommands and ExecuteSlashCommand.
func (devtool) commands() SlashCommands {
	return SlashCommands{List: SideRequest{Method: "commands/get", Params: struct{}{}}, Run: func(path []string, args string) SideRequest {
		return SideRequest{Method: "command/execute", Params: struct {
			Path []string `json:"command_path"`
			Args string   `json:"args"`
		}{path, args}}
	}}
}

func (devtool) meta(metadata a2a.JSON, m *Meta) (found bool) {
	gjson.Parse(string(metadata)).ForEach(func(key, event gjson.Result) bool {
		switch {
		case devtoolVersion(key.Str) == "" || !event.IsObject():
			return true
		case ofOtherVersion(key.Str):
			m.other = true
			return true
		}
		found, m.other = true, false
		event.ForEach(func(k, v gjson.Result) bool {
			switch k.Str {
			case "kind":
				m.kind = devtoolKind(v)
			case "model":
				m.Model = v.Str
			case "user_tier", "userTier":
				m.UserTier = v.Str
			case "error":
				m.Err = v.String()
			}
			return true
		})
		return false
	})
	return found
}

func devtoolKind(v gjson.Result) eventKind {
	switch n, name := enum(v, "DEVELOPMENT_TOOL_EVENT_KIND_"); {
	case n == 5 || name == "THOUGHT":
		return kindThought
	case 1 <= n && n <= 4 || slices.Contains([]string{"TOOL_CALL_CONFIRMATION", "TOOL_CALL_UPDATE", "TEXT_CONTENT", "STATE_CHANGE"}, name):
		return kindOther
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

func (devtool) CallID(data calls.Object) (id string, ok bool) {
	raw := data.Get("tool_call_id", "toolCallId")
	id = calls.StringOf(raw)
	return id, id != "" && data.Get("selected_option_id", "selectedOptionId") == ""
}

func (devtool) Answered(data calls.Object) (id string, ok bool) {
	return calls.StringOf(data.Get("tool_call_id", "toolCallId")), data.Get("selected_option_id", "selectedOptionId") != ""
}

// ToolCall: what the call has beside the members that we know, or has twice, goes to
// [calls.ToolCall], Extra, so that the user sees it with a question.
func (devtool) ToolCall(data calls.Object, c *calls.ToolCall) {
	var extra []byte
	for i := range data {
		raw := data[i].Value
		if raw == "null" {
			continue
		}
		switch key := snakeCase(data[i].Key); {
		case key == "tool_call_id":
		case key == "status" && c.Status == calls.Unspecified:
			c.Status = devtoolStatus(gjson.Parse(raw))
		case key == "tool_name" && c.Name == "":
			c.Name = calls.StringOf(raw)
		case key == "description" && c.Description == "":
			c.Description = calls.StringOf(raw)
		case key == "input_parameters" && c.Input == "":
			c.Input = a2a.JSON(raw)
		case key == "live_content":
			c.SetOutputSoFar(raw)
		case key == "output":
			c.Output = devtoolOutput(raw)
		case key == "error":
			c.Error = devtoolError(raw)
		case key == "confirmation_request" && c.Confirmation == nil:
			c.Confirmation = devtoolConfirmation(gjson.Parse(raw))
		default:
			extra = rawjson.AppendMember(extra, data[i].Key, raw)
		}
	}
	c.Extra = a2a.JSON(rawjson.EndObject(extra))
	if c.Output != nil || c.Error != nil {
		c.SetOutputSoFar("") // the result takes its place
	}
	c.Asks = c.Confirmation != nil && c.Status == calls.Pending
}

// snakeCase is a member's name as the extension has it: proto-JSON writes lowerCamelCase, and
// takes both.
func snakeCase(name string) string {
	if strings.ToLower(name) == name {
		return name
	}
	var b strings.Builder
	for _, c := range []byte(name) {
		if 'A' <= c && c <= 'Z' {
			b.WriteByte('_')
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// Question: the extension has a ConfirmationRequest with a ToolCall around it, and without
// (§3.2: a message "contains a ConfirmationRequest").
func (devtool) Question(data string, c *calls.ToolCall) bool {
	if !isBareRequest(data) {
		return false
	}
	c.Confirmation = devtoolConfirmation(gjson.Parse(data))
	return true
}

// isBareRequest reports whether data has members of a ConfirmationRequest and no
// others.
func isBareRequest(data string) bool {
	options, details, others := false, false, false
	rawjson.EachMember(data, func(key, value string) bool {
		switch snakeCase(key) {
		case "options":
			options = rawjson.IsArray(value)
		case "execute_details", "file_edit_details", "mcp_details", "generic_details":
			details = details || rawjson.IsObject(value)
		default:
			others = true
		}
		return !others
	})
	return (options || details) && !others
}

func devtoolStatus(v gjson.Result) calls.Status {
	n, name := enum(v, "TOOL_CALL_STATUS_")
	for i, s := range calls.StatusNames {
		if n == i || name == s || name == "STATUS_"+s {
			return calls.Status(i)
		}
	}
	return calls.Unspecified
}

func devtoolOutput(raw string) *calls.Output {
	if rawjson.IsString(raw) {
		return &calls.Output{Text: calls.StringOf(raw)}
	}
	var room [8]calls.Member
	v := calls.ReadObject(room[:0], raw)
	o := &calls.Output{Text: calls.StringOf(v.Get("text"))}
	if diff := v.Get("diff"); rawjson.IsObject(diff) {
		o.Diff = devtoolDiff(diff)
	}
	o.Data = a2a.JSON(v.Get("structured_data", "structuredData"))
	return o
}

func devtoolError(raw string) *calls.ErrorDetails {
	if rawjson.IsString(raw) {
		return &calls.ErrorDetails{Message: calls.StringOf(raw)}
	}
	var room [8]calls.Member
	v := calls.ReadObject(room[:0], raw)
	return &calls.ErrorDetails{
		Message:    calls.StringOf(v.Get("message")),
		Type:       calls.StringOf(v.Get("type")),
		StatusCode: int(gjson.Parse(v.Get("status_code", "statusCode")).Int()),
	}
}

func devtoolDiff(raw string) *calls.FileDiff {
	var room [8]calls.Member
	v := calls.ReadObject(room[:0], raw)
	d := &calls.FileDiff{
		FileName:   calls.StringOf(v.Get("file_name", "fileName")),
		FilePath:   calls.StringOf(v.Get("file_path", "filePath")),
		NewContent: calls.StringOf(v.Get("new_content", "newContent")),
		Formatted:  calls.StringOf(v.Get("formatted_diff", "formattedDiff")),
	}
	if old := v.Get("old_content", "oldContent"); old != "" {
		s := calls.StringOf(old)
		d.OldContent = &s
	}
	return d
}

// devtoolConfirmation reads a ConfirmationRequest. What none of our fields takes goes to
// [calls.Confirmation], Unread, so that the user sees it: unknown members, in the details too,
// details that are no object, and whatever comes in two spellings.
func devtoolConfirmation(v gjson.Result) *calls.Confirmation {
	c := &calls.Confirmation{}
	var unread []byte
	v.ForEach(func(k, d gjson.Result) bool {
		switch {
		case d.Type == gjson.Null:
		case k.Str == "options" && d.IsArray() && c.Options == nil:
			d.ForEach(func(_, o gjson.Result) bool {
				c.Options = append(c.Options, calls.ConfirmationOption{
					ID: o.Get("id").String(), Name: o.Get("name").String(), Description: o.Get("description").String()})
				return true
			})
		default:
			rest := d.Raw
			if d.IsObject() {
				rest = devtoolDetails(c, k.Str, d)
			}
			if rest != "" {
				unread = rawjson.AppendMember(unread, k.Str, rest)
			}
		}
		return true
	})
	c.Unread = a2a.JSON(rawjson.EndObject(unread))
	return c
}

// devtoolDetails reads details of one kind. It returns what it has not read: members
// that we do not know, "" for none; everything, if the details are of no kind that we
// know, or of one that was read before.
func devtoolDetails(c *calls.Confirmation, key string, d gjson.Result) (rest string) {
	switch key = snakeCase(key); {
	case key == "execute_details" && c.Execute == nil:
		c.Execute = &calls.ExecuteDetails{Command: d.Get("command").String(),
			WorkingDirectory: first(d, "working_directory", "workingDirectory").String()}
		return without(d, "command", "working_directory")
	case key == "file_edit_details" && c.Edit == nil:
		c.Edit = devtoolDiff(d.Raw)
		return without(d, "file_name", "file_path", "old_content", "new_content", "formatted_diff")
	case key == "mcp_details" && c.MCP == nil:
		c.MCP = &calls.MCPDetails{ServerName: first(d, "server_name", "serverName").String(),
			ToolName: first(d, "tool_name", "toolName").String()}
		return without(d, "server_name", "tool_name")
	case key == "generic_details" && c.Generic == nil:
		c.Generic = &calls.GenericDetails{Description: d.Get("description").String()}
		return without(d, "description")
	}
	return d.Raw
}

// without returns an object without the members of these names, in either spelling: "" if
// there are no others. Of a name that comes twice nothing is left
// out, since readers differ in which of the two counts.
func without(o gjson.Result, names ...string) string {
	var count [8]int
	o.ForEach(func(k, v gjson.Result) bool {
		if i := slices.Index(names, snakeCase(k.Str)); i >= 0 {
			count[i]++
		}
		return true
	})
	var rest []byte
	o.ForEach(func(k, v gjson.Result) bool {
		if i := slices.Index(names, snakeCase(k.Str)); v.Type != gjson.Null && (i < 0 || count[i] > 1) {
			rest = rawjson.AppendMember(rest, k.Str, v.Raw)
		}
		return true
	})
	return rawjson.EndObject(rest)
}

// options: the agent says which there are (§3.2, ConfirmationRequest). For a request
// that names none the options of the extension's own example are taken: without them
// the user could allow nothing. That is not done for a request without a call, whose
// kind is not known.
func (devtool) options(c *calls.ToolCall) []ask.Option {
	if len(c.Confirmation.Options) > 0 || c.Bare {
		return nil
	}
	return []ask.Option{ask.NewOption(calls.ConfirmationOption{ID: "proceed_once", Name: "Allow"})}
}

// answer is a ToolCallConfirmation as proto3 JSON: the oneof modified_details has
// no level of its own there.
func (devtool) answer(a ask.Answer, m *a2a.Outgoing) error {
	type fileDetails struct {
		NewContent string `json:"new_content"`
	}
	v := struct {
		ID     string       `json:"tool_call_id,omitempty"`
		Option string       `json:"selected_option_id"`
		File   *fileDetails `json:"file_details,omitempty"`
	}{Option: a.OptionID}
	if !a.Call.Bare {
		v.ID = a.Call.ID
	}
	if a.NewContent != nil {
		v.File = &fileDetails{*a.NewContent}
	}
	return addData(m, v, "")
}

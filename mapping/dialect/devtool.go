package dialect

import (
	"encoding/json"
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

func (devtool) readMeta(metadata a2a.JSON, m *Meta) (found bool) {
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
			c.Confirmation = devtoolConfirmation(raw)
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
	c.Confirmation = devtoolConfirmation(data)
	return true
}

// isBareRequest reports whether data has members of a ConfirmationRequest and no
// others.
func isBareRequest(data string) bool {
	asks, others := false, false
	rawjson.EachMember(data, func(key, value string) bool {
		switch snakeCase(key) {
		case "options":
			asks = asks || rawjson.IsArray(value)
		case "execute_details", "file_edit_details", "mcp_details", "generic_details":
			asks = asks || rawjson.IsObject(value)
		default:
			others = true
		}
		return !others
	})
	return asks && !others
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
		o.Diff = &calls.FileDiff{}
		devtoolRead(diff, o.Diff, devtoolDiff...)
	}
	o.Data = a2a.JSON(v.Get("structured_data", "structuredData"))
	return o
}

func devtoolError(raw string) *calls.ErrorDetails {
	if rawjson.IsString(raw) {
		return &calls.ErrorDetails{Message: calls.StringOf(raw)}
	}
	e := &calls.ErrorDetails{}
	devtoolRead(raw, e, "message", "type", "status_code")
	return e
}

// devtoolConfirmation reads a ConfirmationRequest. What none of our fields takes goes to
// [calls.Confirmation], Unread, so that the user sees it: unknown members, in the details too,
// details that are no object, and whatever comes in two spellings.
func devtoolConfirmation(data string) *calls.Confirmation {
	c := &calls.Confirmation{}
	var unread []byte
	rawjson.EachMember(data, func(key, d string) bool {
		rest, object := d, rawjson.IsObject(d)
		switch name := snakeCase(key); {
		case d == "null":
			rest = ""
		case name == "options" && rawjson.IsArray(d) && c.Options == nil:
			rest = ""
			gjson.Parse(d).ForEach(func(_, o gjson.Result) bool {
				c.Options = append(c.Options, calls.ConfirmationOption{
					ID: o.Get("id").String(), Name: o.Get("name").String(), Description: o.Get("description").String()})
				return true
			})
		case name == "execute_details" && object && c.Execute == nil:
			c.Execute = &calls.ExecuteDetails{}
			rest = devtoolRead(d, c.Execute, "command", "working_directory")
		case name == "file_edit_details" && object && c.Edit == nil:
			c.Edit = &calls.FileDiff{}
			rest = devtoolRead(d, c.Edit, devtoolDiff...)
		case name == "mcp_details" && object && c.MCP == nil:
			c.MCP = &calls.MCPDetails{}
			rest = devtoolRead(d, c.MCP, "server_name", "tool_name")
		case name == "generic_details" && object && c.Generic == nil:
			c.Generic = &calls.GenericDetails{}
			rest = devtoolRead(d, c.Generic, "description")
		}
		if rest != "" {
			unread = rawjson.AppendMember(unread, key, rest)
		}
		return true
	})
	c.Unread = a2a.JSON(rawjson.EndObject(unread))
	return c
}

var devtoolDiff = []string{"file_name", "file_path", "old_content", "new_content", "formatted_diff"}

// devtoolRead reads the members of an object that have these names, in either spelling, into what
// has members of these names. It returns the others; "" if there are none. Of a name that
// comes twice nothing is left out of them, since readers differ in which of the two counts, and
// of an object in which a value has another type nothing at all.
func devtoolRead(object string, into any, names ...string) (others string) {
	count := map[string]int{}
	rawjson.EachMember(object, func(key, _ string) bool { count[snakeCase(key)]++; return true })
	var known, rest []byte
	rawjson.EachMember(object, func(key, value string) bool {
		name := snakeCase(key)
		ours := slices.Contains(names, name)
		if ours {
			known = rawjson.AppendMember(known, name, value)
		}
		if value != "null" && (!ours || count[name] > 1) {
			rest = rawjson.AppendMember(rest, key, value)
		}
		return true
	})
	if known != nil && json.Unmarshal(append(known, '}'), into) != nil {
		return object
	}
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

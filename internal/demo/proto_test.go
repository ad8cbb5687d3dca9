package demo

import (
	"encoding/json"
	"strings"
	"testing"
)

func settings(raw string) (any, error) { return readSettings(json.RawMessage(raw)) }

func execution(raw string) (any, error) { return readExecute(json.RawMessage(raw)) }

func confirming(raw string) (any, error) {
	c, err := readConfirmation(json.RawMessage(raw))
	if c.FileDetails == nil {
		return []string{c.ToolCallID, c.SelectedOptionID}, err
	}
	return []string{c.ToolCallID, c.SelectedOptionID, c.FileDetails.NewContent}, err
}

// What a client says is read as a strict reader of proto3 JSON does: each field in
// both spellings, and nothing else.
func TestReadsLikeAStrictReaderOfProtoJSON(t *testing.T) {
	tests := []struct {
		read      func(string) (any, error)
		raw, want string
	}{
		{settings, `{"workspace_path":"/w"}`, `{"WorkspacePath":"/w"}`},
		{settings, `{"workspacePath":"/w"}`, `{"WorkspacePath":"/w"}`},
		{settings, ` { "workspace_path" : "/w" , "mcp_servers" : [{"name":"x"}], "allowed_tools": null }`, `{"WorkspacePath":"/w"}`},
		{settings, `{"workspacePath":"/w","mcpServers":{},"allowedTools":["a"]}`, `{"WorkspacePath":"/w"}`},
		{settings, `{}`, "AgentSettings.workspace_path is missing"},
		{settings, `{"workspace_path":null}`, "AgentSettings.workspace_path is missing"},
		{settings, `{"workspace_path":""}`, "AgentSettings.workspace_path is missing"},
		{settings, `{"workspace_path":7}`, "AgentSettings.workspace_path is a number, want a string"},
		{settings, `{"workspace_path":["/w"]}`, "AgentSettings.workspace_path is an array, want a string"},
		{settings, `{"workspace_path":"/w","workspacePath":"/w"}`, "AgentSettings.workspace_path is there twice"},
		{settings, `{"workspace_path":"/w","workspace_path":"/w"}`, "AgentSettings.workspace_path is there twice"},
		{settings, `{"Workspace_Path":"/w"}`, `AgentSettings has no field "Workspace_Path"; it has workspace_path, mcp_servers, allowed_tools`},
		{settings, `{"workspace_path":"/w","autoExecute":true}`, `AgentSettings has no field "autoExecute"`},
		{settings, `"/w"`, "AgentSettings is a string, want an object"},
		{settings, `null`, "AgentSettings is null, want an object"},
		{settings, `[]`, "AgentSettings is an array, want an object"},

		{confirming, `{"tool_call_id":"c","selected_option_id":"o"}`, `["c","o"]`},
		{confirming, `{"toolCallId":"c","selectedOptionId":"o","fileDetails":{"newContent":"n"}}`, `["c","o","n"]`},
		{confirming, `{"selected_option_id":"o","file_details":{"new_content":"n"},"tool_call_id":"c"}`, `["c","o","n"]`},
		{confirming, `{"selected_option_id":"o"}`, `["","o"]`},
		{confirming, `{"tool_call_id":"c","selected_option_id":"o","file_details":null}`, `["c","o"]`},
		{confirming, `{"tool_call_id":"c","selected_option_id":"o","file_details":{}}`, `["c","o",""]`},
		{confirming, `{"tool_call_id":"c","modified_details":{"file_details":{"new_content":"n"}}}`, `ToolCallConfirmation has no field "modified_details"; it has tool_call_id, selected_option_id, file_details`},
		{confirming, `{"tool_call_id":"c","modifiedDetails":null}`, `ToolCallConfirmation has no field "modifiedDetails"`},
		{confirming, `{"tool_call_id":1}`, "ToolCallConfirmation.tool_call_id is a number, want a string"},
		{confirming, `{"tool_call_id":"c","selected_option_id":true}`, "ToolCallConfirmation.selected_option_id is a boolean, want a string"},
		{confirming, `{"tool_call_id":"c","file_details":"n"}`, "ToolCallConfirmation.file_details is no ModifiedFileDetails: ModifiedFileDetails is a string, want an object"},
		{confirming, `{"tool_call_id":"c","file_details":{"new_content":{}}}`, "ModifiedFileDetails.new_content is an object, want a string"},
		{confirming, `{"tool_call_id":"c","file_details":{"content":"n"}}`, `ModifiedFileDetails has no field "content"`},
		{confirming, `{"tool_call_id":"c","outcome":"o"}`, `ToolCallConfirmation has no field "outcome"`},

		{execution, `{"command_path":["memory","add"],"args":"tea"}`, `{"CommandPath":["memory","add"],"Args":"tea"}`},
		{execution, `{"commandPath":["reset"]}`, `{"CommandPath":["reset"],"Args":""}`},
		{execution, `{"command_path":[]}`, "ExecuteSlashCommandRequest.command_path is empty"},
		{execution, `{"command_path":null}`, "ExecuteSlashCommandRequest.command_path is empty"},
		{execution, `{"command_path":"reset"}`, "ExecuteSlashCommandRequest.command_path is a string, want an array of strings"},
		{execution, `{"command_path":["memory",null]}`, "ExecuteSlashCommandRequest.command_path has an item that is null, want a string"},
		{execution, `{"command_path":["reset"],"args":["tea"]}`, "ExecuteSlashCommandRequest.args is an array, want a string"},
		{execution, `{"command_path":["reset"],"metadata":{}}`, `ExecuteSlashCommandRequest has no field "metadata"; it has command_path, args`},
		{execution, ``, "params are missing"},
	}
	for _, test := range tests {
		read, err := test.read(test.raw)
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error %q, want %q in it", test.raw, err, test.want)
			}
			continue
		}
		if got, _ := json.Marshal(read); string(got) != test.want {
			t.Errorf("%s: read %s, want %s", test.raw, got, test.want)
		}
	}
}

// No JSON from outside panics the reader, and what it takes is what an object of
// exactly the fields it knows says.
func FuzzReadConfirmation(f *testing.F) {
	for _, seed := range []string{
		`{"tool_call_id":"c","selected_option_id":"o","file_details":{"new_content":"n"}}`,
		`{"toolCallId":"","selectedOptionId":null}`, `{"tool_call_id":"c","tool_call_id":"d"}`, `[]`, `null`, `"\ud800"`, `{"a":{}}`, ` {}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) {
			return // no part holds it
		}
		c, err := readConfirmation(json.RawMessage(raw))
		if err != nil {
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(raw), &members); err != nil {
			t.Fatalf("%s was taken: %v", raw, err)
		}
		said := func(name string) (s string) {
			for _, n := range []string{name, lowerCamel(name)} {
				_ = json.Unmarshal(members[n], &s)
				delete(members, n)
			}
			return s
		}
		if got := said("tool_call_id"); got != c.ToolCallID {
			t.Errorf("%s: tool_call_id %q, want %q", raw, c.ToolCallID, got)
		}
		if got := said("selected_option_id"); got != c.SelectedOptionID {
			t.Errorf("%s: selected_option_id %q, want %q", raw, c.SelectedOptionID, got)
		}
		delete(members, "file_details")
		delete(members, "fileDetails")
		if len(members) > 0 {
			t.Errorf("%s was taken with %v", raw, members)
		}
	})
}

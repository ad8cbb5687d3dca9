package demo

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestCommandAsks: the first message of a command's session is its answer, which brings the settings.
// Without an event stream the execution ID names the task. (Script demo_commands has the others.)
func TestCommandAsks(t *testing.T) {
	converse(t, nil, func(t *testing.T, c *client) {
		for path, want := range map[string]string{"fail": "FAILED_TO_START", "deploy": "AWAITING_SHELL_CONFIRMATION"} {
			got, _ := c.call("command/execute", map[string]any{"command_path": []string{path}, "args": "production"})
			if got["status"] != want {
				t.Errorf("/%s: %v", path, got)
			}
			c.taskID, _ = got["execution_id"].(string)
			if want == "FAILED_TO_START" {
				continue
			}
			snapshot := c.open("tasks/resubscribe", map[string]any{"id": c.taskID}).next()
			call := at(snapshot, "history.1.parts.0.data")
			if at(snapshot, "status.state") != "input-required" || at(call, "confirmation_request.execute_details.command") != "deploy --to production" {
				t.Errorf("resubscribed: %v", snapshot)
			}
			c.calls = []string{at(call, "tool_call_id").(string)}
			answer := c.message(c.taskID, c.answers("proceed_once")...)
			c.refused(answer, "-32602", "message.metadata has no AgentSettings")
			lines := c.open("message/stream", with(answer, "metadata", c.settings())).rest()
			expect(t, "deploy", lines[len(lines)-1:], "completed (final)")
		}
	})
}

// extensionFields is the extension, written by hand: each type with its fields and each
// enum with its values, without proto3's unset ones (…_UNSPECIFIED): an agent that
// sends one says nothing.
var extensionFields = []struct{ name, members string }{
	{"ToolCall", "tool_call_id status tool_name description input_parameters live_content output error confirmation_request"},
	{"ToolCallStatus", "PENDING EXECUTING SUCCEEDED FAILED CANCELLED"},
	{"ToolOutput", "text diff structured_data"},
	{"ErrorDetails", "message type status_code"},
	{"ConfirmationRequest", "options execute_details file_edit_details mcp_details generic_details"},
	{"ConfirmationOption", "id name description"},
	{"ExecuteDetails", "command working_directory"},
	{"FileDiff", "file_name file_path old_content new_content formatted_diff"},
	{"McpDetails", "server_name tool_name"},
	{"GenericDetails", "description"},
	{"AgentThought", "subject description"},
	{"DevelopmentToolEvent", "kind model user_tier error"},
	{"DevelopmentToolEventKind", "TOOL_CALL_CONFIRMATION TOOL_CALL_UPDATE TEXT_CONTENT STATE_CHANGE THOUGHT"},
	{"GetAllSlashCommandsResponse", "commands"},
	{"SlashCommand", "name description arguments sub_commands"},
	{"SlashCommandArgument", "name description is_required"},
	{"ExecuteSlashCommandResponse", "execution_id status message"},
	{"CommandExecutionStatus", "STARTED FAILED_TO_START AWAITING_SHELL_CONFIRMATION AWAITING_ACTION_CONFIRMATION"},
}

// extensionTypes tells where objects of a type occur in another's. A name after = is
// the enum of a value.
var extensionTypes = map[string]string{
	"ToolCall":                    "status=ToolCallStatus output:ToolOutput error:ErrorDetails confirmation_request:ConfirmationRequest",
	"ToolOutput":                  "diff:FileDiff",
	"ConfirmationRequest":         "options:ConfirmationOption execute_details:ExecuteDetails file_edit_details:FileDiff mcp_details:McpDetails generic_details:GenericDetails",
	"DevelopmentToolEvent":        "kind=DevelopmentToolEventKind",
	"GetAllSlashCommandsResponse": "commands:SlashCommand",
	"SlashCommand":                "arguments:SlashCommandArgument sub_commands:SlashCommand",
	"ExecuteSlashCommandResponse": "status=CommandExecutionStatus",
}

// A census counts the members of types that were met.
type census map[string]bool

func (s census) visit(t *testing.T, name string, v any) {
	t.Helper()
	if list, ok := v.([]any); ok {
		for _, w := range list {
			s.visit(t, name, w)
		}
		return
	}
	object, ok := v.(map[string]any)
	if !ok {
		return
	}
	for member, value := range object {
		s[name+"."+member] = true
		for where := range strings.FieldsSeq(extensionTypes[name]) {
			if field, typ, ok := strings.Cut(where, ":"); ok && field == member {
				s.visit(t, typ, value)
			}
			if field, enum, ok := strings.Cut(where, "="); ok && field == member {
				s[fmt.Sprint(enum, ".", value)] = true
			}
		}
	}
}

func TestEveryFieldOfTheExtensionIsSaid(t *testing.T) {
	dir := t.TempDir()
	met := census{}
	converseIn(t, dir, nil, func(t *testing.T, c *client) {
		for _, tale := range tales() {
			if tale.word == "long" || tale.word == "slow" {
				continue // nothing but text
			}
			for _, option := range []string{"proceed_once", "cancel"} {
				for c.prompt(tale.word); len(c.calls) > 0; {
					c.confirm(option)
				}
			}
		}
		c.call("commands/get", nil)
		for _, path := range [][]string{{"memory", "show"}, {"deploy"}, {"reset"}, {"fail"}} {
			c.call("command/execute", map[string]any{"command_path": path})
		}
		for _, e := range c.seen {
			if e["execution_id"] != nil {
				met.visit(t, "ExecuteSlashCommandResponse", e)
			}
			if e["commands"] != nil {
				met.visit(t, "GetAllSlashCommandsResponse", e)
			}
			if metadata, ok := e["metadata"].(map[string]any); ok {
				met.visit(t, "DevelopmentToolEvent", metadata[ExtensionURI])
			} else if e["kind"] == "status-update" {
				t.Errorf("an update without metadata: %v", e)
			}
			data := at(e, "status.message.parts.0.data")
			switch {
			case at(data, "tool_call_id") != nil:
				met.visit(t, "ToolCall", data)
			case data != nil:
				met.visit(t, "AgentThought", data)
			}
			if uris, _ := at(e, "status.message.extensions").([]any); e["kind"] == "status-update" && (data != nil) != slices.Contains(uris, any(ExtensionURI)) {
				t.Errorf("the message's extensions: %v", e)
			}
		}
	})
	known := map[string]bool{}
	for _, typ := range extensionFields {
		for member := range strings.FieldsSeq(typ.members) {
			known[typ.name+"."+member] = true
			if !met[typ.name+"."+member] {
				t.Errorf("no story says %s.%s", typ.name, member)
			}
		}
	}
	for name := range met {
		if !known[name] {
			t.Errorf("a story says %s, which the extension does not know", name)
		}
	}
}

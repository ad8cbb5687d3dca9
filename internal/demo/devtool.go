package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Objects of the development-tool extension. They are data in any A2A version, with the
// field names of the specification.

// The kinds of a developmentToolEvent.
const (
	kindConfirmation = "TOOL_CALL_CONFIRMATION"
	kindToolCall     = "TOOL_CALL_UPDATE"
	kindText         = "TEXT_CONTENT"
	kindStateChange  = "STATE_CHANGE"
	kindThought      = "THOUGHT"
)

// The statuses of a tool call.
const (
	callPending   = "PENDING"
	callExecuting = "EXECUTING"
	callSucceeded = "SUCCEEDED"
	callFailed    = "FAILED"
	callCancelled = "CANCELLED"
)

// The statuses of a command execution.
const (
	commandStarted        = "STARTED"
	commandFailed         = "FAILED_TO_START"
	commandAwaitingShell  = "AWAITING_SHELL_CONFIRMATION"
	commandAwaitingAction = "AWAITING_ACTION_CONFIRMATION"
)

// The extension allows further settings, and names two as examples, MCP servers and allowed
// tools; these are accepted and ignored. All others are refused, so that a client notices a
// misspelled one.
type agentSettings struct {
	WorkspacePath string          `json:"workspace_path"`
	MCPServers    json.RawMessage `json:"mcp_servers"`
	AllowedTools  json.RawMessage `json:"allowed_tools"`
}

type developmentToolEvent struct {
	Kind     string `json:"kind"`
	Model    string `json:"model"`
	UserTier string `json:"user_tier,omitempty"`
	Error    string `json:"error,omitempty"`
}

type agentThought struct {
	Subject     string `json:"subject"`
	Description string `json:"description"`
}

// A toolCall is passed by value. Its pointers are replaced, never written through: the
// log keeps each version.
type toolCall struct {
	ID           string               `json:"tool_call_id"`
	Status       string               `json:"status"`
	Name         string               `json:"tool_name"`
	Description  string               `json:"description,omitempty"`
	Input        any                  `json:"input_parameters"`
	Live         string               `json:"live_content,omitempty"`
	Output       *toolOutput          `json:"output,omitempty"`
	Error        *errorDetails        `json:"error,omitempty"`
	Confirmation *confirmationRequest `json:"confirmation_request,omitempty"`
}

func (c toolCall) over() bool { return c.Status != callPending && c.Status != callExecuting }

type toolOutput struct {
	Text       *string   `json:"text,omitempty"`
	Diff       *fileDiff `json:"diff,omitempty"`
	Structured any       `json:"structured_data,omitempty"`
}

type errorDetails struct {
	Message    string `json:"message"`
	Type       string `json:"type,omitempty"`
	StatusCode *int32 `json:"status_code,omitempty"`
}

type confirmationRequest struct {
	Options  []confirmationOption `json:"options,omitempty"`
	Execute  *executeDetails      `json:"execute_details,omitempty"`
	FileEdit *fileDiff            `json:"file_edit_details,omitempty"`
	MCP      *mcpDetails          `json:"mcp_details,omitempty"`
	Generic  *genericDetails      `json:"generic_details,omitempty"`
}

type confirmationOption struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`

	effect effect // what choosing it does; not sent
}

type executeDetails struct {
	Command          string `json:"command"`
	WorkingDirectory string `json:"working_directory,omitempty"`
}

type fileDiff struct {
	FileName      string  `json:"file_name"`
	FilePath      string  `json:"file_path"`
	OldContent    *string `json:"old_content,omitempty"`
	NewContent    string  `json:"new_content"`
	FormattedDiff string  `json:"formatted_diff,omitempty"`
}

type mcpDetails struct {
	ServerName string `json:"server_name"`
	ToolName   string `json:"tool_name"`
}

type genericDetails struct {
	Description string `json:"description"`
}

// A toolCallConfirmation is an answer to a confirmationRequest: see [confirmed].
type toolCallConfirmation struct {
	ToolCallID       string               `json:"tool_call_id"`
	SelectedOptionID string               `json:"selected_option_id"`
	FileDetails      *modifiedFileDetails `json:"file_details"` // nil: not modified
}

type modifiedFileDetails struct {
	NewContent string `json:"new_content"`
}

type slashCommand struct {
	Name        string                 `json:"name"`
	Description string                 `json:"description"`
	Arguments   []slashCommandArgument `json:"arguments,omitempty"`
	SubCommands []slashCommand         `json:"sub_commands,omitempty"`
}

type slashCommandArgument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	IsRequired  bool   `json:"is_required"`
}

type executeSlashCommandRequest struct {
	CommandPath []string `json:"command_path"`
	Args        string   `json:"args"`
}

type executeSlashCommandResponse struct {
	ExecutionID string `json:"execution_id"`
	Status      string `json:"status"`
	Message     string `json:"message,omitempty"`
}

// readStrictly reads an object of the extension into a struct. Unknown fields and wrong
// types are errors: the lenient readers of most agents hide clients' mistakes. A oneof has
// no level of its own.
func readStrictly(raw json.RawMessage, typ string, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == nil:
		return nil
	case ok && wrong.Field == "":
		return fmt.Errorf("%s is a JSON %s, want an object", typ, wrong.Value)
	case ok:
		return fmt.Errorf("%s.%s is a JSON %s, want a %s", typ, wrong.Field, wrong.Value, wrong.Type)
	}
	return fmt.Errorf("%s: %s", typ, strings.TrimPrefix(err.Error(), "json: "))
}

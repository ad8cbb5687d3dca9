package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// readStrictly reads an object of the extension into a struct. Unknown fields and wrong
// types are errors: the lenient readers of most agents hide clients' mistakes. A oneof has
// no level of its own.
func readStrictly(raw json.RawMessage, typ string, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Errorf("%s is a JSON %s, want an object", typ, wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("%s.%s is a JSON %s, want a %s", typ, wrong.Field, wrong.Value, wrong.Type)
	}
	return fmt.Errorf("%s: %s", typ, strings.TrimPrefix(err.Error(), "json: "))
}

// readSettings reads an AgentSettings. The extension allows further settings, and names
// two as examples, MCP servers and allowed tools; these are accepted and ignored. All
// others are refused, so that a client notices a misspelled one.
func readSettings(raw json.RawMessage) (agentSettings, error) {
	var s agentSettings
	err := readStrictly(raw, "AgentSettings", &s)
	if err == nil && s.WorkspacePath == "" {
		err = errors.New("AgentSettings.workspace_path is missing")
	}
	return s, err
}

// readExecute reads an ExecuteSlashCommandRequest.
func readExecute(raw json.RawMessage) (executeSlashCommandRequest, error) {
	var r executeSlashCommandRequest
	if len(raw) == 0 {
		return r, errors.New("params are missing")
	}
	err := readStrictly(raw, "ExecuteSlashCommandRequest", &r)
	if err == nil && len(r.CommandPath) == 0 {
		err = errors.New("ExecuteSlashCommandRequest.command_path is empty")
	}
	return r, err
}

package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// This file reads a client's extension objects strictly, as proto3 JSON (protobuf's
// "ProtoJSON Format"). A field has its schema's name, or that in lowerCamelCase, once.
// null leaves it unset. Unknown fields, wrong types and a second member of a oneof are
// errors. A oneof has no level of its own. The lenient readers of most agents hide
// clients' mistakes.

// A field is one field of a message type.
type field struct {
	name string // as the schema spells it
	read func(value json.RawMessage) error
}

// readMessage reads an object of a message type. Errors begin with the names of the
// type and the field.
func readMessage(raw json.RawMessage, typ string, fields []field) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("%s %s", typ, mistyped(raw, "an object"))
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return fmt.Errorf("%s: %v", typ, err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("%s: %v", typ, err)
		}
		i := slices.IndexFunc(fields, func(f field) bool { return key == f.name || key == lowerCamel(f.name) })
		if i < 0 {
			return fmt.Errorf("%s has no field %q; it has %s", typ, key, names(fields))
		}
		f := fields[i]
		if seen[f.name] {
			return fmt.Errorf("%s.%s is there twice", typ, f.name)
		}
		seen[f.name] = true
		if string(value) == "null" {
			continue
		}
		if err := f.read(value); err != nil {
			return fmt.Errorf("%s.%s %v", typ, f.name, err)
		}
	}
	return nil
}

func names(fields []field) string {
	var list []string
	for _, f := range fields {
		list = append(list, f.name)
	}
	return strings.Join(list, ", ")
}

// lowerCamel is the JSON name that protobuf derives from a field's name.
func lowerCamel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// mistyped reports a value of the wrong type.
func mistyped(value json.RawMessage, want string) string {
	is := "a number"
	switch bytes.TrimSpace(value)[0] {
	case '{':
		is = "an object"
	case '[':
		is = "an array"
	case '"':
		is = "a string"
	case 't', 'f':
		is = "a boolean"
	case 'n':
		is = "null"
	}
	return fmt.Sprintf("is %s, want %s", is, want)
}

// stringField is a field of type string.
func stringField(name string, into *string) field {
	return field{name, func(value json.RawMessage) error {
		if value[0] != '"' {
			return fmt.Errorf("%s", mistyped(value, "a string"))
		}
		return json.Unmarshal(value, into)
	}}
}

// stringsField is a field of type repeated string.
func stringsField(name string, into *[]string) field {
	return field{name, func(value json.RawMessage) error {
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			return fmt.Errorf("%s", mistyped(value, "an array of strings"))
		}
		*into = make([]string, len(list))
		for i, item := range list {
			if item[0] != '"' {
				return fmt.Errorf("has an item that %s", mistyped(item, "a string"))
			}
			if err := json.Unmarshal(item, &(*into)[i]); err != nil {
				return err
			}
		}
		return nil
	}}
}

// anyField is a field without a defined type.
func anyField(name string) field {
	return field{name, func(json.RawMessage) error { return nil }}
}

// readSettings reads an AgentSettings. The extension allows further settings, and names
// two as examples, MCP servers and allowed tools; these are accepted and ignored. All
// others are refused, so that a client notices a misspelled one.
func readSettings(raw json.RawMessage) (agentSettings, error) {
	var s agentSettings
	err := readMessage(raw, "AgentSettings", []field{
		stringField("workspace_path", &s.WorkspacePath), anyField("mcp_servers"), anyField("allowed_tools"),
	})
	if err == nil && s.WorkspacePath == "" {
		err = fmt.Errorf("AgentSettings.workspace_path is missing")
	}
	return s, err
}

// readConfirmation reads a ToolCallConfirmation.
func readConfirmation(raw json.RawMessage) (toolCallConfirmation, error) {
	var c toolCallConfirmation
	return c, readMessage(raw, "ToolCallConfirmation", []field{
		stringField("tool_call_id", &c.ToolCallID),
		stringField("selected_option_id", &c.SelectedOptionID),
		// The one member of the oneof modified_details.
		{"file_details", func(value json.RawMessage) error {
			c.FileDetails = &modifiedFileDetails{}
			if err := readMessage(value, "ModifiedFileDetails", []field{stringField("new_content", &c.FileDetails.NewContent)}); err != nil {
				return fmt.Errorf("is no ModifiedFileDetails: %v", err)
			}
			return nil
		}},
	})
}

// readExecute reads an ExecuteSlashCommandRequest.
func readExecute(raw json.RawMessage) (executeSlashCommandRequest, error) {
	var r executeSlashCommandRequest
	if len(raw) == 0 {
		return r, fmt.Errorf("params are missing")
	}
	err := readMessage(raw, "ExecuteSlashCommandRequest", []field{
		stringsField("command_path", &r.CommandPath), stringField("args", &r.Args),
	})
	if err == nil && len(r.CommandPath) == 0 {
		err = fmt.Errorf("ExecuteSlashCommandRequest.command_path is empty")
	}
	return r, err
}

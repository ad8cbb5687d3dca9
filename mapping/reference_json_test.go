package mapping

import (
	"encoding/json"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is how calls were spelled for A2A lines before that was appended.

type diffJSON struct {
	FileName   string  `json:"file_name"`
	FilePath   string  `json:"file_path"`
	OldContent *string `json:"old_content,omitempty"`
	NewContent string  `json:"new_content"`
	Formatted  string  `json:"formatted_diff,omitempty"`
}

type outputJSON struct {
	Text *string         `json:"text,omitempty"`
	Diff *diffJSON       `json:"diff,omitempty"`
	Data json.RawMessage `json:"structured_data,omitempty"`
}

type errorDetailsJSON struct {
	Message string `json:"message"`
	Type    string `json:"type,omitempty"`
	Code    int    `json:"status_code,omitempty"`
}

type optionJSON struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type executeJSON struct {
	Command string `json:"command"`
	Dir     string `json:"working_directory,omitempty"`
}

type mcpJSON struct {
	Server string `json:"server_name"`
	Tool   string `json:"tool_name"`
}

type genericJSON struct {
	Description string `json:"description"`
}

type confirmationJSON struct {
	Options []optionJSON `json:"options"`
	Execute *executeJSON `json:"execute_details,omitempty"`
	Edit    *diffJSON    `json:"file_edit_details,omitempty"`
	MCP     *mcpJSON     `json:"mcp_details,omitempty"`
	Generic *genericJSON `json:"generic_details,omitempty"`
}

func refToolCallJSON(c *ToolCall) json.RawMessage {
	v := struct {
		ID           string            `json:"tool_call_id"`
		Status       string            `json:"status"`
		Name         string            `json:"tool_name"`
		Description  string            `json:"description,omitempty"`
		Input        json.RawMessage   `json:"input_parameters,omitempty"`
		Live         string            `json:"live_content,omitempty"`
		Output       *outputJSON       `json:"output,omitempty"`
		Error        *errorDetailsJSON `json:"error,omitempty"`
		Confirmation *confirmationJSON `json:"confirmation_request,omitempty"`
		Extra        json.RawMessage   `json:"extra,omitempty"`
	}{
		ID: c.ID, Status: c.Status.String(), Name: c.Name, Description: c.Description,
		Input: valueJSON(c.Input), Live: c.OutputSoFar, Extra: valueJSON(c.Extra),
	}
	if o := c.Output; o != nil {
		v.Output = &outputJSON{Diff: fileDiffJSON(o.Diff), Data: valueJSON(o.Data)}
		if o.Text != "" || o.Diff == nil && o.Data == "" {
			v.Output.Text = &o.Text
		}
	}
	if c.Error != nil {
		e := errorJSON(c.Error)
		v.Error = &e
	}
	// It is there while it is asked, by the RFC.
	if q := c.Confirmation; q != nil && c.Asks {
		v.Confirmation = &confirmationJSON{Options: []optionJSON{}, Edit: fileDiffJSON(q.Edit)}
		for _, o := range NewQuestion(c).Options {
			v.Confirmation.Options = append(v.Confirmation.Options, optionJSON{o.ID, o.Name, o.Description})
		}
		if q.Execute != nil {
			v.Confirmation.Execute = &executeJSON{q.Execute.Command, q.Execute.WorkingDirectory}
		}
		if q.MCP != nil {
			v.Confirmation.MCP = &mcpJSON{q.MCP.ServerName, q.MCP.ToolName}
		}
		if q.Generic != nil {
			v.Confirmation.Generic = &genericJSON{q.Generic.Description}
		}
	}
	b, err := marshal(v)
	if err != nil {
		return json.RawMessage("{}") // every member is a string or valid JSON
	}
	return b
}

func errorJSON(e *ErrorDetails) errorDetailsJSON {
	return errorDetailsJSON{e.Message, e.Type, e.StatusCode}
}

func fileDiffJSON(d *FileDiff) *diffJSON {
	if d == nil {
		return nil
	}
	return &diffJSON{d.FileName, d.FilePath, d.OldContent, d.NewContent, d.Formatted}
}

func valueJSON(j a2a.JSON) json.RawMessage {
	if j == "" {
		return nil
	}
	return appendValue(nil, j)
}

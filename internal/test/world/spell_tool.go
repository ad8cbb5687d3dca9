package world

import "strings"

// uri is the development-tool extension's.
const uri = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"

// The kinds of a DevelopmentToolEvent (development-tool extension §3.2).
const (
	kindConfirmation = "TOOL_CALL_CONFIRMATION"
	kindUpdate       = "TOOL_CALL_UPDATE"
	kindText         = "TEXT_CONTENT"
	kindState        = "STATE_CHANGE"
	kindThought      = "THOUGHT"
)

// metadata is the metadata of an event of some kind, "" without the extension.
func (h *Habits) metadata(kind string) string {
	if !h.Extension {
		return ""
	}
	return `{"` + uri + `":{"kind":"` + kind + `","model":"m"}}`
}

// The statuses of a ToolCall.
const (
	statusPending   = "PENDING"
	statusExecuting = "EXECUTING"
	statusSucceeded = "SUCCEEDED"
	statusFailed    = "FAILED"
	statusCancelled = "CANCELLED"
)

// spell writes a complete ToolCall (development-tool extension §3.2), as in a status.
// live is nil for no live output.
func (c *Call) spell(id, status string, live *string) string {
	b := []byte(`{"tool_call_id":`)
	b = quote(b, id)
	b = quote(append(b, `,"status":`...), status)
	b = quote(append(b, `,"tool_name":`...), c.Name)
	b = quote(append(b, `,"description":`...), "does "+c.Name)
	b = quote(append(b, `,"input_parameters":{"of":`...), c.Name)
	b = append(b, '}')
	if live != nil {
		b = quote(append(b, `,"live_content":`...), *live)
	}
	switch {
	case status == statusPending && c.Options != nil:
		b = c.spellQuestion(append(b, `,"confirmation_request":`...))
	case status == statusSucceeded || status == statusFailed:
		b = c.spellResult(b)
	}
	return string(append(b, '}'))
}

// output is the word in a call's result.
func (c *Call) output() string { return "out" + c.Label }

func (c *Call) spellResult(b []byte) []byte {
	switch c.Result {
	case ResultDiff:
		b = quote(append(c.spellFile(append(b, `,"output":{"diff":{`...)), `,"new_content":`...), c.output())
		return append(b, `}}`...)
	case ResultData:
		return append(quote(append(b, `,"output":{"structured_data":{"is":`...), c.output()), `}}`...)
	case ResultError:
		return append(quote(append(b, `,"error":{"message":`...), c.output()), '}')
	}
	return append(quote(append(b, `,"output":{"text":`...), c.output()), '}')
}

// final is the last status of a call that runs.
func (c *Call) final() string {
	switch c.Result {
	case ResultError:
		return statusFailed
	case ResultCancelled:
		return statusCancelled
	}
	return statusSucceeded
}

// spellFile begins a FileDiff. Each call has its own file, since an "always" for a file
// covers later calls.
func (c *Call) spellFile(b []byte) []byte {
	b = quote(append(b, `"file_name":`...), c.Label)
	b = quote(append(b, `,"file_path":`...), "/w/"+c.Label)
	return append(b, `,"old_content":"old"`...)
}

func (c *Call) spellQuestion(b []byte) []byte {
	b = append(b, `{"options":[`...)
	for i, o := range c.Options {
		if i > 0 {
			b = append(b, ',')
		}
		b = quote(append(b, `{"id":`...), o.ID)
		b = quote(append(b, `,"name":`...), o.Name)
		if o.Description != "" {
			b = quote(append(b, `,"description":`...), o.Description)
		}
		b = append(b, '}')
	}
	b = append(b, ']')
	switch c.Detail {
	case DetailCommand:
		b = append(quote(append(b, `,"execute_details":{"command":`...), "run "+c.Name), '}')
	case DetailEdit:
		b = append(quote(append(c.spellFile(append(b, `,"file_edit_details":{`...)), `,"new_content":`...), c.Name), '}')
	case DetailMCP:
		b = quote(append(b, `,"mcp_details":{"server_name":`...), c.Server)
		b = append(quote(append(b, `,"tool_name":`...), c.Name), '}')
	case DetailGeneric:
		b = append(quote(append(b, `,"generic_details":{"description":`...), "wants "+c.Name), '}')
	}
	return append(b, '}')
}

// card is the agent's.
func (h *Habits) card() string {
	var b strings.Builder
	b.WriteString(`{"name":"world","description":"An agent of a generated world","version":"1",`)
	if h.V1 {
		b.WriteString(`"supportedInterfaces":[{"url":"` + agentURL + `","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],`)
	} else {
		b.WriteString(`"url":"` + agentURL + `","protocolVersion":"0.3.0","preferredTransport":"JSONRPC",`)
	}
	b.WriteString(`"capabilities":{"streaming":`)
	if h.Streams {
		b.WriteString(`true`)
	} else {
		b.WriteString(`false`)
	}
	if h.Pushes {
		b.WriteString(`,"pushNotifications":true`)
	}
	if h.Extension {
		b.WriteString(`,"extensions":[{"uri":"` + uri + `","required":true}]`)
	}
	b.WriteString(`},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`)
	return b.String()
}

const agentURL = "http://agent.invalid/"

// Package mcp holds the words of the Model Context Protocol
// (https://modelcontextprotocol.io/specification), as far as a server of tools needs them.
// It knows no tool, and not how messages travel.
package mcp

import (
	"encoding/json"
	"slices"

	"github.com/sourcegraph/jsonrpc2"
)

// Versions returns those of the protocol that travel by streamable HTTP and begin with
// initialize, the newest first; the oldest without its batches, which no client sends.
// Versions before have another transport, and 2026-07-28 has no initialize.
func Versions() []string { return []string{"2025-11-25", "2025-06-18", "2025-03-26"} }

// A Message is a JSON-RPC message from a client.
type Message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// IsValid reports whether m is a message: in MCP an ID is a string or a number. An answer
// has an ID and no method.
func (m *Message) IsValid() bool {
	if len(m.ID) == 0 {
		return m.JSONRPC == "2.0" && m.Method != ""
	}
	return m.JSONRPC == "2.0" && (m.ID[0] == '"' || m.ID[0] == '-' || m.ID[0] >= '0' && m.ID[0] <= '9')
}

// IsRequest reports whether a valid message wants an answer.
func (m *Message) IsRequest() bool { return len(m.ID) > 0 && m.Method != "" }

// A Reply answers a request, with one of Result and Error.
type Reply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null if it is not known
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// An Error is JSON-RPC's, with one of its codes.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Answer answers a request of a session that has begun. [Failure] is for a call that has
// failed; an error says that there was none.
func (m *Message) Answer(tools json.RawMessage, call func(params json.RawMessage) (*CallResult, *Error)) *Reply {
	reply := &Reply{JSONRPC: "2.0", ID: m.ID}
	switch m.Method {
	case "ping":
		reply.Result = struct{}{}
	case "tools/list":
		reply.Result = tools
	case "tools/call":
		result, err := call(m.Params)
		if reply.Error = err; err == nil {
			reply.Result = result
		}
	case "initialize":
		reply.Error = &Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the session is initialized: begin a new one"}
	default:
		reply.Error = &Error{Code: jsonrpc2.CodeMethodNotFound, Message: "no method " + m.Method}
	}
	return reply
}

// An Implementation is what a client or a server says of itself.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// Initialized is the result of initialize, of a server that has tools and nothing else. A client
// that asks for none of the versions is offered the first.
func Initialized(versions []string, asked string, server Implementation) map[string]any {
	if !slices.Contains(versions, asked) {
		asked = versions[0]
	}
	return map[string]any{"protocolVersion": asked, "capabilities": map[string]any{"tools": struct{}{}}, "serverInfo": server}
}

// Initialize answers initialize by [Initialized].
func (m *Message) Initialize(versions []string, server Implementation) *Reply {
	var asked struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(m.Params, &asked); err != nil || asked.ProtocolVersion == "" {
		return &Reply{JSONRPC: "2.0", ID: m.ID, Error: &Error{Code: jsonrpc2.CodeInvalidParams, Message: "initialize needs a protocolVersion"}}
	}
	return &Reply{JSONRPC: "2.0", ID: m.ID, Result: Initialized(versions, asked.ProtocolVersion, server)}
}

// A CallResult is the result of tools/call.
type CallResult struct {
	Content []any `json:"content,omitzero"`
	IsError bool  `json:"isError,omitempty"`
	// These are of 2026-07-28: input_required is a result that asks the user, and whose state
	// comes back with the answer.
	ResultType    string         `json:"resultType,omitempty"`
	InputRequests map[string]any `json:"inputRequests,omitempty"`
	RequestState  string         `json:"requestState,omitempty"`
}

// Text returns a result of one text.
func Text(text string) *CallResult {
	return &CallResult{Content: []any{struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", text}}}
}

// Failure returns the result of a tool that has failed. The model reads it.
func Failure(err error) *CallResult {
	r := Text(err.Error())
	r.IsError = true
	return r
}

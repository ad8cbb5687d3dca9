package companion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// The server implements the part of MCP (https://modelcontextprotocol.io/specification)
// that a CLI needs of a companion: initialize, ping and two tools, over JSON-RPC 2.0.

// JSON-RPC's error codes.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
)

// protocolVersions are the versions of MCP that are supported, the newest first; the
// oldest without its batches, which no CLI sends. Versions before have another transport;
// 2026-07-28 has no stream for the companion's notifications.
var protocolVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26"}

// A message is a JSON-RPC message from a CLI.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// A reply answers a request, with one of Result and Error.
type reply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// A notification is what a CLI is told.
type notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

func notice(method string, params any) json.RawMessage {
	b, err := encode(notification{"2.0", method, params})
	if err != nil {
		panic(err) // strings, and JSON that was encoded before
	}
	return b
}

// encode is [json.Marshal] without the escapes for HTML: source code has many of these
// characters, and each would take six bytes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// valid reports whether m is a message: in MCP an ID is a string or a number. An answer
// has an ID and no method; answers are ignored, since the CLIs get no requests.
func (m *message) valid() bool {
	if len(m.ID) == 0 {
		return m.JSONRPC == "2.0" && m.Method != ""
	}
	return m.JSONRPC == "2.0" && (m.ID[0] == '"' || m.ID[0] == '-' || m.ID[0] >= '0' && m.ID[0] <= '9')
}

func (m *message) isRequest() bool { return len(m.ID) > 0 && m.Method != "" }

func failure(id json.RawMessage, code int, text string) *reply {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	return &reply{JSONRPC: "2.0", ID: id, Error: &rpcError{code, text}}
}

// answer handles a message of a session; nil: there is nothing to answer.
func (m *mcpServer) answer(ctx context.Context, s *session, msg *message) *reply {
	if !msg.isRequest() {
		return nil
	}
	var result any
	var err *rpcError
	switch msg.Method {
	case "ping":
		result = struct{}{}
	case "tools/list":
		result = json.RawMessage(toolList)
		if m.hub.noDiffs.Load() {
			// The CLIs ask once, and have no diffs unless both tools are there.
			result = json.RawMessage(`{"tools":[]}`)
		}
	case "tools/call":
		result, err = m.callTool(ctx, s, msg.Params)
	case "initialize":
		err = &rpcError{codeInvalidRequest, "the session is initialized: begin a new one without " + sessionHeader}
	default:
		err = &rpcError{codeMethodNotFound, "no method " + msg.Method}
	}
	return &reply{"2.0", msg.ID, result, err}
}

// initialize answers the first request of a session. A client that supports none of our
// versions is offered the newest.
func (m *mcpServer) initialize(msg *message) *reply {
	var params struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if err := decode(msg.Params, &params); err != nil || params.ProtocolVersion == "" {
		return failure(msg.ID, codeInvalidParams, "initialize needs a protocolVersion")
	}
	version := params.ProtocolVersion
	if !slices.Contains(protocolVersions, version) {
		version = protocolVersions[0]
	}
	type object map[string]any
	return &reply{JSONRPC: "2.0", ID: msg.ID, Result: object{
		"protocolVersion": version,
		"capabilities":    object{"tools": object{}},
		"serverInfo":      object{"name": "a2astdio-companion", "title": "a2astdio IDE companion", "version": m.version},
	}}
}

// toolList is the result of tools/list. suppressNotification is deprecated in the CLIs,
// which still send it; it asks for what closeDiff does anyway.
const toolList = `{"tools":[
{"name":"openDiff","title":"Open a diff","description":"Opens an editable diff of a file in the editor. What the user decides is told later, by ide/diffAccepted or ide/diffRejected.",
"inputSchema":{"type":"object","properties":{
"filePath":{"type":"string","description":"The absolute path of the file"},
"newContent":{"type":"string","description":"The proposed content of the whole file"}},
"required":["filePath","newContent"]}},
{"name":"closeDiff","title":"Close a diff","description":"Closes the diff of a file in the editor. The answer is a JSON object with the content that the user has left in it, if there was one.",
"inputSchema":{"type":"object","properties":{
"filePath":{"type":"string","description":"The absolute path of the file"},
"suppressNotification":{"type":"boolean","description":"Deprecated: closing never sends a notification"}},
"required":["filePath"]}}]}`

// A toolResult is MCP's CallToolResult.
type toolResult struct {
	Content []textContent `json:"content"`
	IsError bool          `json:"isError,omitempty"`
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func toolFailure(err error) *toolResult {
	return &toolResult{Content: []textContent{{"text", err.Error()}}, IsError: true}
}

func (m *mcpServer) callTool(ctx context.Context, s *session, raw json.RawMessage) (any, *rpcError) {
	var params struct {
		Name      string `json:"name"`
		Arguments struct {
			FilePath             *string `json:"filePath"`
			NewContent           *string `json:"newContent"`
			SuppressNotification bool    `json:"suppressNotification"`
		} `json:"arguments"`
	}
	wrong := decode(raw, &params)
	args := params.Arguments
	if wrong == nil && args.FilePath == nil {
		wrong = errors.New("filePath is missing")
	}
	switch params.Name {
	case "openDiff":
		if wrong == nil && args.NewContent == nil {
			wrong = errors.New("newContent is missing")
		}
		if wrong == nil {
			wrong = m.hub.openDiff(ctx, s, *args.FilePath, *args.NewContent)
		}
		if wrong != nil {
			return toolFailure(wrong), nil
		}
		return &toolResult{Content: []textContent{}}, nil
	case "closeDiff":
		if wrong != nil {
			return toolFailure(wrong), nil
		}
		content, err := m.hub.closeDiff(s, *args.FilePath)
		if err != nil {
			return toolFailure(err), nil
		}
		text, err := encode(struct {
			Content *string `json:"content,omitempty"`
		}{content})
		if err != nil {
			return toolFailure(err), nil
		}
		return &toolResult{Content: []textContent{{"text", string(text)}}}, nil
	}
	return nil, &rpcError{codeInvalidParams, "there is no tool " + params.Name}
}

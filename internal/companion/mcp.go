package companion

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/mcp"
)

// answer handles a message of a session; nil: there is nothing to answer. Answers are
// ignored, since the CLIs get no requests.
func (m *mcpServer) answer(ctx context.Context, s *session, msg *mcp.Message) *mcp.Reply {
	if !msg.IsRequest() {
		return nil
	}
	tools := toolList
	if m.hub.noDiffs.Load() {
		// The CLIs ask once, and have no diffs unless both tools are there.
		tools = `{"tools":[]}`
	}
	return msg.Answer(json.RawMessage(tools), func(params json.RawMessage) (*mcp.CallResult, *mcp.Error) {
		return m.callTool(ctx, s, params)
	})
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

func (m *mcpServer) callTool(ctx context.Context, s *session, raw json.RawMessage) (*mcp.CallResult, *mcp.Error) {
	var params struct {
		Name      string `json:"name"`
		Arguments struct {
			FilePath             *string `json:"filePath"`
			NewContent           *string `json:"newContent"`
			SuppressNotification bool    `json:"suppressNotification"`
		} `json:"arguments"`
	}
	err := decode(raw, &params)
	args, opens := params.Arguments, params.Name == "openDiff"
	switch {
	case !opens && params.Name != "closeDiff":
		return nil, &mcp.Error{Code: jsonrpc2.CodeInvalidParams, Message: "there is no tool " + params.Name}
	case err != nil:
	case args.FilePath == nil:
		err = errors.New("filePath is missing")
	case opens && args.NewContent == nil:
		err = errors.New("newContent is missing")
	case opens:
		if err = m.hub.openDiff(ctx, s, *args.FilePath, *args.NewContent); err == nil {
			return &mcp.CallResult{Content: []any{}}, nil
		}
	default:
		var left struct {
			Content *string `json:"content,omitempty"`
		}
		if left.Content, err = m.hub.closeDiff(s, *args.FilePath); err == nil {
			text, _ := rawjson.Marshal(left) // a string always encodes
			return mcp.Text(string(text)), nil
		}
	}
	return mcp.Failure(err), nil
}

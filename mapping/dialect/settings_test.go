package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestSettingsOnce: what the user says in --agent-settings takes the place of what
// the bridge would say, in either spelling of proto3 JSON, so that no field is there
// twice. Gemini's server has one spelling only, and ignores the other; MCP servers it reads
// from a file.
func TestSettingsOnce(t *testing.T) {
	for _, row := range []struct{ dialect, extra, want string }{
		{Devtool, `{}`, `{"mcp_servers":["editor"],"workspace_path":"/w"}`},
		{Devtool, `{"mcpServers":["mine"]}`, `{"mcpServers":["mine"],"workspace_path":"/w"}`},
		{Devtool, `{"mcp_servers":["mine"]}`, `{"mcp_servers":["mine"],"workspace_path":"/w"}`},
		{Devtool, `{"workspacePath":"/mine","n":12345678901234567890}`, `{"mcp_servers":["editor"],"n":12345678901234567890,"workspacePath":"/mine"}`},
		{Devtool, `{"mcpServers":[],"mcp_servers":[]}`, `bridge: --agent-settings has one field in two spellings, mcpServers and mcp_servers: keep one of them`},
		{Gemini, `{"mcpServers":["mine"]}`, `{"kind":"agent-settings","mcpServers":["mine"],"workspacePath":"/w"}`},
		{Gemini, `{"workspace_path":"/mine"}`, `{"kind":"agent-settings","workspacePath":"/w","workspace_path":"/mine"}`},
	} {
		var m a2a.Outgoing
		err := Writing{Dialect: row.dialect, URI: devtoolURI}.Apply(AgentSettings{Workspace: "/w",
			MCPServers: []json.RawMessage{json.RawMessage(`"editor"`)}, Extra: json.RawMessage(row.extra)}, &m)
		var got strings.Builder
		if err != nil {
			got.WriteString(err.Error())
		}
		for _, v := range m.Metadata {
			got.Write(v)
		}
		if got.String() != row.want {
			t.Errorf("%s, %s\n got %s\nwant %s", row.dialect, row.extra, got.String(), row.want)
		}
	}
}

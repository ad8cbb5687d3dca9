package dialect

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// This file is for MCP servers, which Gemini CLI's server reads from a file of its own, each
// time that it makes a task; it makes one on request.

// geminiServersName begins the name of the extension of Gemini CLI that has the editor's
// MCP servers; the context ends it. Of two extensions with one name the server takes the
// workspace's, which comes with what one clones. (settings.json is not written: that is the
// user's, and has comments.)
const geminiServersName = "a2astdio-"

// An Opening makes a task ahead of its first message, so that it has MCP servers.
type Opening struct {
	// File is what the agent is to find in its file meanwhile.
	File []byte
	Make SideRequest
	// names are those of the servers.
	names []string
}

// Opening returns how a task is made that is to have the settings' MCP servers, by an
// agent that reads them from a file; nil for an agent that does not. The server reads the files
// of extensions whenever it makes a task (seen with 0.25.2; read of 0.61). The members of
// coderAgent that name servers are read by no build.
func (w Writing) Opening(s AgentSettings, contextID string) (*Opening, error) {
	if w.Dialect != Gemini {
		return nil, nil
	}
	_, settings, err := w.settings(s)
	if err != nil {
		return nil, err
	}
	o := &Opening{Make: SideRequest{Path: "/tasks", Params: struct {
		ContextID string         `json:"contextId"`
		Settings  map[string]any `json:"agentSettings"`
	}{contextID, settings}}}
	servers := map[string]any{}
	for _, raw := range s.MCPServers {
		name, server := geminiServer(gjson.ParseBytes(raw))
		if name == "" {
			return nil, fmt.Errorf("editor: an MCP server without a name")
		}
		servers[name] = server
		o.names = append(o.names, name)
	}
	o.File, err = rawjson.Marshal(struct {
		Name    string         `json:"name"`
		Version string         `json:"version"`
		Servers map[string]any `json:"mcpServers"`
	}{geminiServersName + contextID, "1.0.0", servers})
	return o, err
}

// geminiServer spells an MCP server of ACP's in Gemini's words.
func geminiServer(v gjson.Result) (name string, server map[string]any) {
	name = v.Get("name").Str
	switch v.Get("type").Str {
	case "http":
		return name, map[string]any{"httpUrl": v.Get("url").Str, "headers": namedValues(v.Get("headers"))}
	case "sse":
		return name, map[string]any{"url": v.Get("url").Str, "headers": namedValues(v.Get("headers"))}
	}
	args := []string{}
	for _, a := range v.Get("args").Array() {
		args = append(args, a.String())
	}
	return name, map[string]any{"command": v.Get("command").Str, "args": args, "env": namedValues(v.Get("env"))}
}

// namedValues reads ACP's lists of names and values.
func namedValues(list gjson.Result) map[string]string {
	values := map[string]string{}
	for _, v := range list.Array() {
		values[v.Get("name").Str] = v.Get("value").String()
	}
	return values
}

// Task reads what came of Make: the task's ID, and the request that tells which MCP
// servers it has.
func (o *Opening) Task(raw json.RawMessage) (id string, servers SideRequest, err error) {
	if id = gjson.ParseBytes(raw).Str; id == "" {
		return "", SideRequest{}, fmt.Errorf("agent: made a task, and answered with something else than its ID: %.200s", raw)
	}
	return id, SideRequest{Path: "/tasks/" + id + "/metadata"}, nil
}

// Missing returns the names of the servers that the agent has not taken, by its answer
// to the request that Task returned.
func (o *Opening) Missing(raw json.RawMessage) (names []string) {
	known := gjson.GetBytes(raw, "metadata.mcpServers.#.name").Array()
	for _, name := range o.names {
		if !slices.ContainsFunc(known, func(k gjson.Result) bool { return k.Str == name }) {
			names = append(names, name)
		}
	}
	return names
}

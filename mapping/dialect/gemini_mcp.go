package dialect

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// An opener is a dialect whose agents read MCP servers from a file of theirs, each time
// that they make a task, and make one on request.
type opener interface {
	// open returns what is to be in the file while r makes the task.
	open(s AgentSettings, settings map[string]any, contextID string) (file []byte, r SideRequest, err error)
	// opened reads the answer: the task's ID.
	opened(raw a2a.JSON) (taskID string)
	// servers is the request for what the task knows of MCP servers, and knows reads
	// from the answer whether one of a name is among them.
	servers(taskID string) SideRequest
	knows(raw a2a.JSON, server string) bool
}

var _ opener = gemini{}

// geminiServersName begins the name of the extension of Gemini CLI that has the editor's
// MCP servers; the context ends it. Of two extensions with one name the server takes the
// workspace's, which comes with what one clones. (settings.json is not written: that is the
// user's, and has comments.)
const geminiServersName = "a2astdio-"

// open: the server reads the files of extensions whenever it makes a task (seen with
// 0.25.2; read of 0.61). The members of coderAgent that name servers are read by no build.
func (gemini) open(s AgentSettings, settings map[string]any, contextID string) ([]byte, SideRequest, error) {
	servers := map[string]any{}
	for _, raw := range s.MCPServers {
		name, server := geminiServer(gjson.ParseBytes(raw))
		if name == "" {
			return nil, SideRequest{}, fmt.Errorf("editor: an MCP server without a name")
		}
		servers[name] = server
	}
	file, err := rawjson.Marshal(struct {
		Name    string         `json:"name"`
		Version string         `json:"version"`
		Servers map[string]any `json:"mcpServers"`
	}{geminiServersName + contextID, "1.0.0", servers})
	return file, SideRequest{Path: "/tasks", Params: struct {
		ContextID string         `json:"contextId"`
		Settings  map[string]any `json:"agentSettings"`
	}{contextID, settings}}, err
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

func (gemini) opened(raw a2a.JSON) string { return gjson.Parse(string(raw)).Str }

func (gemini) servers(taskID string) SideRequest {
	return SideRequest{Path: "/tasks/" + taskID + "/metadata"}
}

func (gemini) knows(raw a2a.JSON, server string) bool {
	for _, s := range gjson.Get(string(raw), "metadata.mcpServers").Array() {
		if s.Get("name").Str == server {
			return true
		}
	}
	return false
}

// An Opening makes a task ahead of its first message, so that it has MCP servers.
type Opening struct {
	dialect opener
	// File is what the agent is to find in its file meanwhile.
	File []byte
	Make SideRequest
	// names are those of the servers.
	names []string
}

// Opening returns how a task is made that is to have the settings' MCP servers, by an
// agent that reads them from a file; nil for an agent that does not.
func (w Writing) Opening(s AgentSettings, contextID string) (*Opening, error) {
	d, ok := w.dialect().(opener)
	if !ok {
		return nil, nil
	}
	_, settings, err := w.members(s)
	if err != nil {
		return nil, err
	}
	o := &Opening{dialect: d}
	for _, raw := range s.MCPServers {
		o.names = append(o.names, gjson.GetBytes(raw, "name").Str)
	}
	o.File, o.Make, err = d.open(s, settings, contextID)
	return o, err
}

// Task reads what came of Make: the task's ID, and the request that tells which MCP
// servers it has.
func (o *Opening) Task(raw json.RawMessage) (id string, servers SideRequest, err error) {
	if id = o.dialect.opened(a2a.JSON(raw)); id == "" {
		return "", SideRequest{}, fmt.Errorf("agent: made a task, and answered with something else than its ID: %.200s", raw)
	}
	return id, o.dialect.servers(id), nil
}

// Missing returns the names of the servers that the agent has not taken, by its answer
// to the request that Task returned.
func (o *Opening) Missing(raw json.RawMessage) (names []string) {
	for _, name := range o.names {
		if !o.dialect.knows(a2a.JSON(raw), name) {
			names = append(names, name)
		}
	}
	return names
}

// TakesServers reports whether the settings of a task's first message hand MCP servers
// to the agent.
func (w Writing) TakesServers() bool { return w.Traits().ServersInSettings }

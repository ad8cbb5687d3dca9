package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"
)

// TestSchemas holds each line that the transcripts' editors read against the
// schema of its protocol: ACP's own (testdata/schema/acp-v1.schema.json, from
// the npm package @agentclientprotocol/sdk 2.4.0), and ours of the A2A lines. No
// line holds a null that nobody asked for: to Lua clients null is true.
func TestSchemas(t *testing.T) {
	acp, lines := schemaFile(t, "acp-v1"), schemaFile(t, "a2a-lines")
	results := map[string]string{ // the schema of each method's result
		"initialize": "InitializeResponse", "session/new": "NewSessionResponse", "session/load": "LoadSessionResponse",
		"session/resume": "ResumeSessionResponse", "session/list": "ListSessionsResponse", "session/prompt": "PromptResponse",
		"session/set_mode": "SetSessionModeResponse", "session/set_config_option": "SetSessionConfigOptionResponse", "session/close": "CloseSessionResponse",
		"session/delete": "DeleteSessionResponse", "authenticate": "AuthenticateResponse", "logout": "LogoutResponse",
	}
	legs := map[string]bool{"message/stream": true, "toolCall/confirm": true, "tasks/resubscribe": true, "command/execute": true}
	files, _ := filepath.Glob("testdata/transcript/*.txt")
	checked := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		asked := map[string]string{} // methods by request
		isACP := false
		for i, l := range strings.Split(string(text), "\n") {
			kind, line, _ := strings.Cut(l, " ")
			isACP = isACP || kind == "handshake"
			m := gjson.Parse(line)
			if kind == "E>" && m.Get("method").Exists() {
				asked[m.Get("id").Raw] = m.Get("method").Str
				isACP = isACP || m.Get("method").Str == "initialize" && m.Get("params.protocolVersion").Type == gjson.Number
			}
			if kind != "E<" {
				continue
			}
			schema, value := lines(""), m
			method := asked[m.Get("id").Raw]
			switch {
			case !isACP && m.Get("result").Exists() && legs[method]:
				schema, value = lines("legResult"), m.Get("result")
			case !isACP || m.Get("error").Exists():
			case m.Get("method").Str == "session/update":
				schema, value = acp("SessionNotification"), m.Get("params")
			case m.Get("method").Str == "session/request_permission":
				schema, value = acp("RequestPermissionRequest"), m.Get("params")
			case m.Get("method").Str == "elicitation/create":
				schema, value = acp("CreateElicitationRequest"), m.Get("params")
			case m.Get("method").Str == "$/cancel_request":
				schema, value = acp("CancelRequestNotification"), m.Get("params")
			case m.Get("method").Exists():
				t.Errorf("%s:%d: the bridge sends %s, which no client has to know", file, i+1, m.Get("method").Str)
				continue
			default:
				schema, value = acp(results[method]), m.Get("result")
			}
			instance, err := jsonschema.UnmarshalJSON(strings.NewReader(value.Raw))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(instance); err != nil {
				t.Errorf("%s:%d: %v\n%s", file, i+1, err, line)
			}
			if strings.Contains(line, ":null") && !m.Get("error").Exists() && !m.Get("params.raw").Exists() {
				t.Errorf("%s:%d: a null: %s", file, i+1, line)
			}
			checked++
		}
	}
	if checked < 200 {
		t.Errorf("only %d lines were checked", checked)
	}
}

func schemaFile(t *testing.T, name string) func(def string) *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	path := "testdata/schema/" + name + ".schema.json"
	return func(def string) *jsonschema.Schema {
		if def != "" {
			def = "#/$defs/" + def
		}
		s, err := c.Compile(path + def)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

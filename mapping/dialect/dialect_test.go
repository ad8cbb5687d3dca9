package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestForgotten: whatever a dialect has not said of a call, the call can be asked about, and
// answered. A call may also come from a journal of another version, with more dialects.
func TestForgotten(t *testing.T) {
	reject := "no"
	for _, c := range []calls.ToolCall{{}, {Asks: true}, {Asks: true, Bare: true}, {Asks: true, Confirmation: &calls.Confirmation{}},
		{ID: "c", Asks: true, Confirmation: &calls.Confirmation{Options: []calls.ConfirmationOption{{}}}}} {
		for place := range len(dialects()) + 2 {
			c := c
			c.Dialect = uint8(place)
			q := NewQuestion(&c)
			if c.Confirmation != nil && q.Reject().ID == "" {
				t.Errorf("nothing rejects %+v", c)
			}
			var m a2a.Outgoing
			if err := (Writing{}).Answers([]ask.Answer{{Call: &c, OptionID: q.Reject().ID}, {Call: &c}, {Call: &c, NewContent: &reject}}, &m); err != nil {
				t.Error(err)
			}
			if err := WriteReply(Input{dialect: uint8(place)}, "text", &m); err != nil || len(m.Parts) == 0 {
				t.Errorf("the user's words to dialect %d are lost, %v", place, err)
			}
		}
	}
}

// TestUnread: whatever none of the fields takes of what is asked is shown to the user, as the agent has it.
func TestUnread(t *testing.T) {
	for data, want := range map[string]string{
		`{"execute_details":{"command":"ls","workingDirectory":"/"},"options":[{"id":"a"}]}`: ``,
		`{"executeDetails":{"command":"ls","as":"root"}}`:                                    `{"executeDetails":{"as":"root"}}`,
		`{"execute_details":{"command":"ls","env":null}}`:                                    ``,
		`{"execute_details":{"command":"ls","command":"rm"}}`:                                `{"execute_details":{"command":"ls","command":"rm"}}`,
		`{"execute_details":{"command":["rm"],"working_directory":"/"}}`:                     `{"execute_details":{"command":["rm"],"working_directory":"/"}}`,
		`{"execute_details":"rm"}`:                                                           `{"execute_details":"rm"}`,
		`{"mcp_details":{"server_name":"s"},"mcpDetails":{"server_name":"z"}}`:               `{"mcpDetails":{"server_name":"z"}}`,
		`{"generic_details":{"description":"d","kind":"ask_user"},"novel":1}`:                `{"generic_details":{"kind":"ask_user"},"novel":1}`,
		`{"file_edit_details":{"file_path":"/a","filePath":"/b"}}`:                           `{"file_edit_details":{"file_path":"/a","filePath":"/b"}}`,
		`{"options":{"id":"a"}}`:                                                             `{"options":{"id":"a"}}`,
	} {
		if c := devtoolConfirmation(data); string(c.Unread) != want || c.Generic != nil && c.Generic.Kind != "" {
			t.Errorf("%s\n  unread %s\nwant %s", data, c.Unread, want)
		}
	}
}

// TestBareRequest: data is a question by itself also where what it has not is null, and with nothing beside.
func TestBareRequest(t *testing.T) {
	for data, want := range map[string]bool{
		`{"options":[{"id":"a"}],"execute_details":null}`:           true,
		`{"options": null, "genericDetails": {"description": "d"}}`: true,
		`{"options":[{"id":"a"}],"note":1}`:                         false,
		`{"execute_details":null}`:                                  false,
	} {
		if isBareRequest(data) != want {
			t.Errorf("%s: not %v", data, want)
		}
	}
}

// TestADKKey: an agent of ADK's is known by any key of its metadata, in any spacing of JSON.
func TestADKKey(t *testing.T) {
	metadata := a2a.JSON(`{"x": 1, "adk_author": "a"}`)
	if !(adk{}).knows(&a2a.Event{Raw: `{"metadata": ` + metadata + `}`, Metadata: metadata}) {
		t.Errorf("%s is not known", metadata)
	}
	if (adk{}).knows(&a2a.Event{Raw: `{"artifact":{"parts":[{"data":{"adk_author":"a"}}]}}`}) {
		t.Error("data are taken for metadata")
	}
}

// TestPlaces: a question of a journal that an earlier version wrote is answered in the dialect that asked it.
func TestPlaces(t *testing.T) {
	for name, place := range map[string]uint8{Devtool: 1, Gemini: 2, "adk": 3, "mastra": 5, "inference-gateway": 8, "shared": 9} {
		if got := placeOf(name); got != place {
			t.Errorf("%s has place %d, and had %d", name, got, place)
		}
	}
}

// A forgetful dialect has nothing but what the compiler asks for, and calls that say nothing.
type forgetful struct{ base }

func (forgetful) CallID(data calls.Object) (string, bool)    { return "c", data.Has("asks") }
func (forgetful) ToolCall(_ calls.Object, c *calls.ToolCall) { c.Asks = true }

// TestForgetful: a dialect that forgets each field of a call is heard, and its question has an
// answer.
func TestForgetful(t *testing.T) {
	c := calls.New()
	c.Speak(uint8(len(dialects())+1), forgetful{}, false)
	steps, ok := c.Data(`{"asks":true}`, "m", calls.Live, nil)
	if !ok || len(steps) != 1 || len(c.Open()) != 1 {
		t.Fatalf("%d steps, %d questions", len(steps), len(c.Open()))
	}
	q := NewQuestion(c.Open()[0])
	var m a2a.Outgoing
	if len(q.Options) == 0 || (Writing{}).Answers([]ask.Answer{{Call: q.Call, OptionID: q.Options[0].ID}}, &m) != nil {
		t.Errorf("the question has the options %+v", q.Options)
	}
}

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

func TestDevtoolVersion(t *testing.T) {
	for _, row := range must.Table[struct {
		In   string
		Want bool
	}](t, "testdata/versions.txt") {
		uri, want := row.In, row.Want
		if got := isSpoken(devtoolVersion(uri)); got != want {
			t.Errorf("%s: %v, want %v", uri, got, want)
		}
	}
}

func TestSettings(t *testing.T) {
	devtoolV1 := "https://example.com/docs/a2a/developer-profile/v1/spec.md"
	for name, c := range map[string]struct {
		extensions []a2a.Extension
		want       string
		extra      []string
		dialect    string
		active     []string
		refused    bool
	}{
		"none":                  {dialect: "core"},
		"devtool":               {extensions: []a2a.Extension{{URI: devtoolURI, Required: true}}, dialect: "devtool", active: []string{devtoolURI}},
		"unknown":               {extensions: []a2a.Extension{{URI: "x"}}, dialect: "core"},
		"unknown, required":     {extensions: []a2a.Extension{{URI: "x", Required: true}}, refused: true},
		"unknown, wanted":       {extensions: []a2a.Extension{{URI: "x", Required: true}}, extra: []string{"x"}, dialect: "core", active: []string{"x"}},
		"other version":         {extensions: []a2a.Extension{{URI: devtoolV1}}, dialect: "core"},
		"other version, needed": {extensions: []a2a.Extension{{URI: devtoolV1, Required: true}}, refused: true},
		"both versions":         {extensions: []a2a.Extension{{URI: devtoolV1}, {URI: devtoolURI}}, dialect: "devtool", active: []string{devtoolURI}},
		"not declared, wanted":  {extra: []string{"y"}, dialect: "core", active: []string{"y"}},
		"forced":                {want: "devtool", dialect: "devtool", active: []string{devtoolURI}},
		"core forced":           {want: "core", extensions: []a2a.Extension{{URI: devtoolURI}}, dialect: "core"},
	} {
		w, err := Settings(&a2a.Card{Extensions: c.extensions}, c.want, c.extra)
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.refused {
			continue
		}
		if w.Dialect != c.dialect || len(w.Extensions) != len(c.active) {
			t.Errorf("%s: %+v", name, w)
			continue
		}
		for i := range c.active {
			if w.Extensions[i] != c.active[i] {
				t.Errorf("%s: active %v", name, w.Extensions)
			}
		}
	}
}

// What looks like inference-gateway's data, and is another agent's, is not read.
func TestInferenceData(t *testing.T) {
	for _, v := range must.Table[struct {
		ID, Data string
		Made     int
		Again    bool
	}](t, "testdata/inference.txt") {
		made, again := inferenceData(&a2a.Part{Kind: a2a.PartData, Data: a2a.JSON(v.Data)}, v.ID)
		if len(made) != v.Made || again != v.Again {
			t.Errorf("%s %s: %d calls, the state again: %v", v.ID, v.Data, len(made), again)
		}
	}
}

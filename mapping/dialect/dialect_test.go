package dialect

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

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
	for _, row := range must.Table[struct{ Data, Want string }](t, "testdata/unread.txt") {
		c := devtoolConfirmation(row.Data)
		must.Equal(t, string(c.Unread), row.Want, row.Data)
		if c.Generic != nil {
			must.Equal(t, c.Generic.Kind, "", row.Data)
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
		must.Equal(t, isBareRequest(data), want, data)
	}
}

// TestADKKey: an agent of ADK's is known by any key of its metadata, in any spacing of JSON.
func TestADKKey(t *testing.T) {
	metadata := a2a.JSON(`{"x": 1, "adk_author": "a"}`)
	if !(adk{}).recognizes(&a2a.Event{Raw: `{"metadata": ` + metadata + `}`, Metadata: metadata}) {
		t.Errorf("%s is not known", metadata)
	}
	if (adk{}).recognizes(&a2a.Event{Raw: `{"artifact":{"parts":[{"data":{"adk_author":"a"}}]}}`}) {
		t.Error("data are taken for metadata")
	}
}

// TestPlaces: a question of a journal that an earlier version wrote is answered in the dialect that asked it.
func TestPlaces(t *testing.T) {
	for name, place := range map[string]uint8{Devtool: 1, Gemini: 2, "adk": 3, "mastra": 5, "inference-gateway": 8, "shared": 9} {
		must.Equal(t, placeOf(name), place, name)
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
	for _, row := range must.Table[struct{ Dialect, Extra, Want string }](t, "testdata/settings.txt") {
		var m a2a.Outgoing
		err := Writing{Dialect: row.Dialect, URI: devtoolURI}.Apply(AgentSettings{Workspace: "/w",
			MCPServers: []json.RawMessage{json.RawMessage(`"editor"`)}, Extra: json.RawMessage(row.Extra)}, &m)
		var got strings.Builder
		if err != nil {
			got.WriteString(err.Error())
		}
		for _, v := range m.Metadata {
			got.Write(v)
		}
		must.Equal(t, got.String(), row.Want, row.Dialect, row.Extra)
	}
}

func TestDevtoolVersion(t *testing.T) {
	for _, row := range must.Table[struct {
		In   string
		Want bool
	}](t, "testdata/versions.txt") {
		uri, want := row.In, row.Want
		must.Equal(t, isSpoken(devtoolVersion(uri)), want, uri)
	}
}

// TestSettings: which dialect is spoken, by the extensions of a card, and which are active then. One with "!" is required,
// and the user may want others.
func TestSettings(t *testing.T) {
	for _, row := range must.Table[struct{ Name, Extensions, Forced, Wanted, Dialect, Active string }](t, "testdata/extensions.txt") {
		card := &a2a.Card{}
		for _, uri := range strings.Fields(row.Extensions) {
			uri, required := strings.CutSuffix(uri, "!")
			card.Extensions = append(card.Extensions, a2a.Extension{URI: uri, Required: required})
		}
		w, err := Settings(card, row.Forced, strings.Fields(row.Wanted))
		must.Equal(t, err != nil, row.Dialect == "refused", row.Name, err)
		if err == nil {
			must.Equal(t, w.Dialect, row.Dialect, row.Name)
			must.Equal(t, strings.Join(w.Extensions, " "), row.Active, row.Name)
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
		made, again := inferencePart(&a2a.Part{Kind: a2a.PartData, Data: a2a.JSON(v.Data)}, v.ID)
		if len(made) != v.Made || again != v.Again {
			t.Errorf("%s %s: %d calls, the state again: %v", v.ID, v.Data, len(made), again)
		}
	}
}

// TestCommands: a nested command is named by its path, whether the agent names it so or by its own name, which
// may begin as its parent's.
func TestCommands(t *testing.T) {
	var names []string
	for _, c := range Commands([]byte(`{"commands":[{"name":"mem","subCommands":[{"name":"mem show"},{"name":"memory"}]}]}`)) {
		names = append(names, c.Name)
	}
	must.Equal(t, names, []string{"mem", "mem show", "mem memory"})
}

// TestAgentFramework: what Microsoft's Agent Framework says as JSON in a text, and what only looks like it.
func TestAgentFramework(t *testing.T) {
	said := func(split bool, to *Pieces) (all string) {
		if !split {
			return ""
		}
		for _, p := range to.List {
			all += map[PieceKind]string{PieceText: "t", PieceCall: "c", PieceThought: "h", PieceWholeThought: "h"}[p.Kind]
			if p.Kind == PieceCall && p.Call.Input != "" && !json.Valid([]byte(p.Call.Input)) {
				t.Errorf("the input is not JSON: %s", p.Call.Input)
			}
		}
		if to.Usage != "" {
			all += "u"
		}
		return all
	}
	for _, row := range must.Table[struct{ Parts, Live, Message string }](t, "testdata/agentframework.txt") {
		var live, whole Pieces
		var list []struct {
			Text string
			Data json.RawMessage
		}
		must.Do(t, json.Unmarshal([]byte(row.Parts), &list))
		parts := a2a.Parts{Raw: a2a.JSON(row.Parts)}
		for _, p := range list {
			part := a2a.Part{Kind: a2a.PartText, Text: p.Text}
			if p.Data != nil {
				part = a2a.Part{Kind: a2a.PartData, Data: a2a.JSON(p.Data)}
			}
			parts.FastPath().List = append(parts.FastPath().List, part)
		}
		must.Equal(t, said((agentFramework{}).artifact(&a2a.Artifact{Parts: parts}, &Carrier{}, &live), &live), row.Live, row.Parts)
		must.Equal(t, said((agentFramework{}).message(&a2a.Message{Parts: parts}, &Carrier{}, &whole), &whole), row.Message, row.Parts)
	}
}

// TestAgentFrameworkLong: what very many members, thoughts or calls allocate grows with them, not with their square, and
// no word is lost.
func TestAgentFrameworkLong(t *testing.T) {
	const n = 10_000
	many := func(text string) (parts a2a.Parts) {
		for range n {
			parts.FastPath().List = append(parts.FastPath().List, a2a.Part{Kind: a2a.PartText, Text: text})
		}
		return parts
	}
	var members, thoughts, said Pieces
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	one := a2a.Parts{}
	one.FastPath().List = []a2a.Part{{Kind: a2a.PartText, Text: `{"a":1` + strings.Repeat(`,"a":1`, n) + `,"Type":"usage"}`}}
	must.Equal(t, (agentFramework{}).artifact(&a2a.Artifact{Parts: one}, &Carrier{}, &members), false)
	(agentFramework{}).artifact(&a2a.Artifact{Parts: many(`{"Text":{"a":"b"},"Type":"reasoning"}`)}, &Carrier{}, &thoughts)
	must.Equal(t, len(thoughts.List[0].Text), n*len(`{"a":"b"}`))
	(agentFramework{}).message(&a2a.Message{Parts: many(`{"CallID":"1","Error":{"a":"b"},"Type":"functionResult"}`)}, &Carrier{}, &said)
	runtime.ReadMemStats(&after)
	must.True(t, after.TotalAlloc-before.TotalAlloc < 100<<20, after.TotalAlloc-before.TotalAlloc, "bytes")
	var end Pieces
	frameworkResult(calls.ToolCall{}, gjson.Parse(`{"Error":{"a":"b"}}`), &end)
	must.Equal(t, end.List[0].Call.Error.Message, `{"a":"b"}`)
}

// TestDecisions: LangGraph's server knows the calls that are decided by their order alone, and what the user has decided
// in advance is answered first.
func TestDecisions(t *testing.T) {
	var m a2a.Outgoing
	must.Do(t, (Writing{}).Answers([]ask.Answer{
		{Call: &calls.ToolCall{Dialect: placeOf("langgraph"), QuestionID: "1"}, OptionID: "approve"},
		{Call: &calls.ToolCall{Dialect: placeOf("langgraph"), QuestionID: "0"}, OptionID: "reject"},
	}, &m))
	must.Equal(t, string(m.Parts[0].Data), `{"resume":{"decisions":[{"type":"reject"},{"type":"approve"}]}}`)
}

// TestManyDecisions: what very many calls of one question of LangGraph's server cost grows with them, not with their square.
func TestManyDecisions(t *testing.T) {
	const n = 10_000
	list := func(one string) string { return "[" + one + strings.Repeat(","+one, n) + "]" }
	data := a2a.JSON(`{"id":"q","value":{"action_requests":` + list(`{"name":"wipe"}`) + `,"review_configs":` + list(`{"action_name":"x"}`) + `}}`)
	parts := a2a.Parts{}
	parts.FastPath().List = []a2a.Part{{Kind: a2a.PartData, Data: data}}
	var before, after runtime.MemStats
	var to Pieces
	runtime.ReadMemStats(&before)
	must.True(t, (langgraph{}).artifact(&a2a.Artifact{Name: "Interrupt", Parts: parts}, &Carrier{}, &to), "it is no question")
	runtime.ReadMemStats(&after)
	must.True(t, after.TotalAlloc-before.TotalAlloc < 200<<20, after.TotalAlloc-before.TotalAlloc, "bytes")
}

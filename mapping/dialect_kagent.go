package mapping

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// kagent is ADK with questions of its own: an extension that the client must ask for,
// whose data are in the message's metadata. Read in source only (kagent-dev/kagent,
// 2026-08-22: go/adk/pkg/a2a/hitl.go, python kagent-core/a2a/_hitl.py).
type kagent struct{ adk }

const kagentURI = "https://kagent.dev/extensions/hitl/v1"

// kagentMessage reads a question of kagent's; false if it is none.
func kagentMessage(m *a2a.Message, at *carrier, to *pieces) bool {
	if !strings.Contains(string(m.Metadata), kagentURI) || at.state != a2a.StateInputRequired || at.held && !at.newest {
		return false
	}
	q := memberOf(m.Metadata, kagentURI)
	// A question that comes from an agent behind this one is answered by that one's
	// IDs.
	tools := first(q.Get("nested"), "tools")
	switch q.Get("type").Str {
	case "tool_approval_request":
		if !tools.Exists() {
			tools = q.Get("tools")
		}
		tools.ForEach(func(_, t gjson.Result) bool {
			c := ToolCall{ID: t.Get("call_id").String(), QuestionID: t.Get("id").String(), Name: t.Get("name").String(),
				Input: a2a.JSON(t.Get("args").Raw), Status: ToolPending, Asks: true, Dialect: placeOf(kagent{}),
				Confirmation: &Confirmation{Generic: &GenericDetails{Description: q.Get("hint").String()}}}
			c.ID = cmp.Or(c.ID, c.QuestionID)
			to.call(c)
			return true
		})
	case "ask_user_request":
		id := cmp.Or(tools.Get("0.id").String(), q.Get("id").String())
		to.ask(questionsInput(id, q.Get("questions")))
	default:
		return false
	}
	return true
}

// memberOf returns a member of an object by its exact name: gjson's paths would split a
// URI at its dots.
func memberOf(o a2a.JSON, name string) (value gjson.Result) {
	gjson.Parse(string(o)).ForEach(func(k, v gjson.Result) bool {
		if k.Str == name {
			value = v
		}
		return !value.Exists()
	})
	return value
}

// questionsInput asks questions in words.
func questionsInput(id string, questions gjson.Result) input {
	in := input{id: id, data: a2a.JSON(questions.Raw)}
	var text strings.Builder
	questions.ForEach(func(_, one gjson.Result) bool {
		writeQuestion(&text, one)
		in.fields = append(in.fields, questionField(one))
		return true
	})
	in.text = text.String()
	return in
}

// writeQuestion puts a question and its choices into words.
func writeQuestion(b *strings.Builder, q gjson.Result) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(first(q, "question", "text", "prompt", "label").String())
	first(q, "options", "choices").ForEach(func(_, o gjson.Result) bool {
		label := cmp.Or(first(o, "label", "name", "value").String(), o.String())
		b.WriteString("\n- " + label)
		return true
	})
}

// answer puts all answers of a pause into one list.
func (kagent) answer(a Answer, m *a2a.Outgoing) error {
	type approval struct {
		ID       string `json:"id"`
		Approved bool   `json:"approved"`
		Reason   string `json:"rejection_reason,omitempty"`
	}
	var all struct {
		Type      string     `json:"type"`
		Approvals []approval `json:"approvals"`
	}
	gjson.Get(string(m.Metadata[kagentURI]), "approvals").ForEach(func(_, v gjson.Result) bool {
		all.Approvals = append(all.Approvals, approval{v.Get("id").Str, v.Get("approved").Bool(), v.Get("rejection_reason").Str})
		return true
	})
	all.Type = "tool_approval_response"
	all.Approvals = append(all.Approvals, approval{ID: a.Call.QuestionID, Approved: a.OptionID == adkAllow})
	if len(m.Parts) == 0 {
		m.Parts = []a2a.OutPart{{Text: "The user has decided."}}
		m.Extensions = append(m.Extensions, kagentURI)
	}
	return setMetadata(m, kagentURI, all)
}

// kagentReply answers questions: each by a list.
func kagentReply(in input, values []a2a.JSON, text string, m *a2a.Outgoing) error {
	type answer struct {
		Answer json.RawMessage `json:"answer"`
	}
	var answers []answer
	for _, v := range values {
		answers = append(answers, answer{listOf(v)})
	}
	m.Parts = []a2a.OutPart{{Text: text}}
	m.Extensions = append(m.Extensions, kagentURI)
	return setMetadata(m, kagentURI, struct {
		Type    string   `json:"type"`
		ID      string   `json:"id"`
		Answers []answer `json:"answers"`
	}{"ask_user_response", in.id, answers})
}

// listOf returns a list as it is, and any other value as a list of one.
func listOf(v a2a.JSON) json.RawMessage {
	if strings.HasPrefix(string(v), "[") {
		return json.RawMessage(v)
	}
	return json.RawMessage("[" + v + "]")
}

package dialect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for what kagent's agents ask. They are ADK's, with an
// extension of kagent's own in place of ADK's questions: without it they ask in words that no answer fits.
// The question is in the metadata of the status message, and the answer in that of ours.

const kagentExtension = "https://kagent.dev/extensions/hitl/v1"

// kagentKeys is what the keys begin with that kagent's executor for Go has had in place of ADK's since August
// 2026, and its Claude and Codex; as a path. Its runtime for Python writes kagent_type in place of adk_type.
const kagentKeys = `kagent\.dev/a2a/`

// The choices of a kagent approval, which it does not name. They tell the answer apart from ADK's.
const (
	kagentAllow  = "approve"
	kagentReject = "reject"
)

// kagentQuestion reads what a status message asks, if that waits for its answer (asks); false if it is
// none of kagent's questions. The message's part is dropped: it says the same in words.
func kagentQuestion(m *a2a.Message, asks bool, to *Pieces) bool {
	if !strings.Contains(string(m.Metadata), kagentExtension) {
		return false
	}
	q := gjson.Get(string(m.Metadata), gjson.Escape(kagentExtension))
	tools := first(q, "nested.tools", "tools").Array() // a subagent's own are those that are decided
	in := Input{ID: first(q, "nested.tools.0.id", "id").Str, Name: "ask_user"}
	in.Text, in.Questions = kagentWords(q.Get("questions").Array())
	switch kind := q.Get("type").Str; {
	case kind == "tool_approval_request" && len(tools) > 0:
		for i := 0; asks && i < len(tools); i++ {
			kagentApproval(tools[i], q.Get("hint").Str, to)
		}
	case kind == "ask_user_request" && in.Questions > 0:
		if asks {
			to.ask(in)
		}
	default:
		return false
	}
	return true
}

func kagentApproval(tool gjson.Result, hint string, to *Pieces) {
	if strings.Contains(hint, "FunctionResponse") {
		hint = "" // ADK's own words, to a programmer
	}
	to.call(calls.ToolCall{ID: first(tool, "call_id", "id").Str, QuestionID: tool.Get("id").Str, Name: tool.Get("name").Str,
		Input: a2a.JSON(tool.Get("args").Raw), Status: calls.Pending, Asks: true,
		Confirmation: &calls.Confirmation{Generic: &calls.GenericDetails{Description: hint},
			Options: []calls.ConfirmationOption{{ID: kagentAllow, Name: "Allow"}, {ID: kagentReject, Name: "Reject"}}}})
}

// kagentWords are questions as one text, and how many they are.
func kagentWords(questions []gjson.Result) (string, int) {
	var text strings.Builder
	for _, q := range questions {
		text.WriteString(q.Get("question").String())
		var choices []string
		for _, c := range q.Get("choices").Array() {
			choices = append(choices, c.String())
		}
		if len(choices) > 0 {
			text.WriteString(" (" + strings.Join(choices, ", ") + ")")
		}
		text.WriteByte('\n')
	}
	if len(questions) > 1 {
		text.WriteString("Answer each on a line of its own.")
	}
	return strings.TrimSpace(text.String()), len(questions)
}

// A kagentAnswer is the answer to either kind of question. One to approvals has all of them.
type kagentAnswer struct {
	Type      string           `json:"type"`
	Approvals []kagentApproved `json:"approvals,omitempty"`
	ID        string           `json:"id,omitempty"`
	Answers   []kagentReply    `json:"answers,omitempty"`
}

type kagentApproved struct {
	ID       string `json:"id"`
	Approved bool   `json:"approved"`
}

type kagentReply struct {
	Answer []string `json:"answer"`
}

// addKagentAnswer sets a message's answer, and adds words that say the same to those who read its history.
func addKagentAnswer(answer kagentAnswer, text string, m *a2a.Outgoing) error {
	raw, err := rawjson.Marshal(answer)
	if m.Metadata == nil {
		m.Metadata = map[string]json.RawMessage{}
	}
	m.Metadata[kagentExtension] = raw
	if !slices.Contains(m.Extensions, kagentExtension) {
		m.Extensions = append(m.Extensions, kagentExtension)
	}
	m.Parts = append(m.Parts, a2a.OutPart{Text: text})
	return err
}

// addKagentDecision adds the answer to an approval to those that a message has.
func addKagentDecision(a ask.Answer, m *a2a.Outgoing) error {
	answer := kagentAnswer{Type: "tool_approval_response"}
	if raw, ok := m.Metadata[kagentExtension]; ok {
		if err := json.Unmarshal(raw, &answer); err != nil {
			return err
		}
	}
	text := map[bool]string{true: "Approved", false: "Rejected"}
	approved := a.OptionID == kagentAllow
	answer.Approvals = append(answer.Approvals, kagentApproved{a.Call.QuestionID, approved})
	return addKagentAnswer(answer, text[approved]+": "+a.Call.Name, m)
}

// addKagentReply adds the user's words to a message: to each question a line. One question, or any if there
// are not as many lines, gets all of them.
func addKagentReply(in Input, text string, m *a2a.Outgoing) error {
	lines := strings.Split(text, "\n")
	if in.Questions == 1 || len(lines) != in.Questions {
		lines = []string{text}
	}
	answer := kagentAnswer{Type: "ask_user_response", ID: in.ID}
	for _, line := range lines {
		answer.Answers = append(answer.Answers, kagentReply{[]string{strings.TrimSpace(line)}})
	}
	return addKagentAnswer(answer, text, m)
}

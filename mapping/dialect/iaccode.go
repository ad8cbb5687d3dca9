package dialect

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// iacCode is iac-code, Alibaba Cloud's coding agent for infrastructure. All text of a task is pieces of one message;
// behind them the last answer comes again, as a message of its own. Calls, thoughts, usage and questions are in the
// metadata of states without a message, so that of a task that is looked at only the newest is known. What a
// call has for its input is not said. A turn ends as a task that waits. Recorded from its server, main of August 2026.
type iacCode struct{ base }

const iacKey = "iac_code"

func (iacCode) about() about {
	return about{name: "iac-code", sign: `"` + iacKey + `"`, traits: Traits{Differences: true, Approvals: true, EndsAsking: true, CallsOnStream: true}}
}

func (iacCode) matchesCard(card *a2a.Card) bool { return declares(card, "urn:iac-code:a2a:") }

func (iacCode) recognizes(ev *a2a.Event) bool {
	return gjson.Get(string(ev.Metadata), iacKey+".iacCodeSessionId").Exists()
}

func (d iacCode) readMeta(metadata a2a.JSON, m *Meta) bool {
	v := gjson.Get(string(metadata), iacKey)
	if !v.IsObject() {
		return false
	}
	if u := v.Get("usage"); u.IsObject() {
		m.Usage = a2a.JSON(u.Raw)
	}
	m.Thinking = v.Get("thinking.text").Str
	switch in, received := v.Get("input"), v.Get("inputReceived"); {
	case in.Get("kind").Str == "permission":
		m.Call = iacQuestion(in)
	case received.Get("kind").Str == "permission":
		m.Call = &calls.ToolCall{ID: received.Get("toolUseId").String()}
	case v.Get("tool.toolUseId").Exists():
		m.Call = iacCall(v.Get("tool"))
	}
	return true
}

// iacCall reads what is said of a call.
func iacCall(v gjson.Result) *calls.ToolCall {
	c := &calls.ToolCall{ID: v.Get("toolUseId").String(), Name: v.Get("name").Str, Status: calls.Executing}
	result := v.Get("result")
	switch v.Get("status").Str {
	case "failed":
		c.Status, c.Error = calls.Failed, &calls.ErrorDetails{Message: result.String()}
	case "completed":
		if c.Status = calls.Succeeded; result.Type == gjson.JSON {
			c.Output = &calls.Output{Data: a2a.JSON(result.Raw)}
		} else {
			c.Output = &calls.Output{Text: result.String()}
		}
	}
	return c
}

// iacQuestion reads what the agent asks about a call. Its summary has what the call would do.
func iacQuestion(v gjson.Result) *calls.ToolCall {
	c := &calls.ToolCall{ID: v.Get("toolUseId").String(), QuestionID: v.Get("inputId").String(), Name: v.Get("toolName").Str,
		Status: calls.Pending, Asks: true, Confirmation: &calls.Confirmation{}}
	var words []string
	for _, name := range []string{"title", "target", "safeSummary"} {
		if w := v.Get(name).Str; w != "" {
			words = append(words, w)
		}
	}
	c.Confirmation.Generic = &calls.GenericDetails{Description: strings.Join(words, "\n")}
	for _, o := range v.Get("options").Array() {
		c.Confirmation.Options = append(c.Confirmation.Options, calls.ConfirmationOption{ID: o.Get("id").Str, Name: o.Get("label").Str})
	}
	return c
}

// message: the last answer is the message "TASK-2", 2 for a task that works; the message "TASK-message" has all that was said.
func (iacCode) message(m *a2a.Message, at *Carrier, to *Pieces) bool {
	switch again := strings.HasSuffix(m.ID, "-2"); {
	case again && at.Held: // the other message has it
	case again && gjson.Get(string(at.Metadata), iacKey+".assistantFinal").Exists():
		to.text(PieceWhole, m.Parts.Text())
	case strings.HasSuffix(m.ID, "-message") && !at.Ends && !at.Held:
		to.parts(m.Parts, PieceDelta)
	default:
		return false
	}
	return true
}

// answer is all that a message may have: one decision, of six members, whose type is named.
func (iacCode) answer(a ask.Answer, m *a2a.Outgoing) error {
	raw, err := rawjson.Marshal(struct {
		Version  int    `json:"schemaVersion"`
		Kind     string `json:"kind"`
		Task     string `json:"requestTaskId"`
		Input    string `json:"inputId"`
		Call     string `json:"toolUseId"`
		Decision string `json:"decision"`
	}{1, "permission", m.TaskID, a.Call.QuestionID, a.Call.ID, a.OptionID})
	m.Parts = append(m.Parts, a2a.OutPart{Data: raw, MediaType: "application/json"})
	return err
}

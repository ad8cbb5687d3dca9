package dialect

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// langgraph is LangGraph's server, which LangSmith runs. Each status message is what LangChain has of a message so far:
// its text, and in data beside it the calls that it makes, or a call's result, which is the text again. What a graph
// asks is an artifact; LangChain's middleware asks so whether tools may be called. The card alone tells the dialect:
// agents made with LangChain send such data, too. Recorded from the A2A endpoints of langgraph-api 0.10.0, and 0.5.23,
// which has what the model's maker says beside each answer, and calls without their results.
type langgraph struct{ base }

// about: a result names its call by its ID alone.
func (langgraph) about() about {
	return about{name: "langgraph", sign: "langgraph", traits: Traits{Differences: true, Grows: true, Approvals: true}}
}

func (langgraph) matchesCard(card *a2a.Card) bool {
	return gjson.Get(string(card.Raw), "skills.0.metadata.inputSchema.supportsA2A").Exists()
}

func (langgraph) recognizes(*a2a.Event) bool { return false }

// langchainData returns what a data part says of a message; false: it is what the agent says.
func langchainData(p *a2a.Part) (data gjson.Result, is bool) {
	if p.Kind != a2a.PartData {
		return data, false
	}
	data = gjson.Parse(string(p.Data))
	data.ForEach(func(k, v gjson.Result) bool {
		is = k.Str == "response_metadata" && v.IsObject() || k.Str == "tool_calls" && v.IsArray() || k.Str == "tool_results" && v.IsArray()
		return is
	})
	return data, is
}

func (langgraph) message(m *a2a.Message, at *Carrier, to *Pieces) bool {
	text, said := m.Parts.Text(), gjson.Result{}
	for p := range m.Parts.All() {
		if data, is := langchainData(p); is {
			said = data
		} else if p.Kind != a2a.PartText {
			to.part(p)
		}
	}
	results, requests := said.Get("tool_results").Array(), said.Get("tool_calls").Array()
	switch {
	case len(results) > 0, at.Held && at.Ends && text == "Task completed successfully": // the server's own words
	case len(requests) > 0 && !at.Held && at.Calls.Knows(requests[0].Get("id").Str) && at.Turn.HasSaid(text): // before the call
	case text != "":
		to.text(PieceText, text)
	}
	for _, v := range requests {
		c := calls.ToolCall{ID: v.Get("id").Str, Name: v.Get("name").Str, Status: calls.Executing}
		if args := v.Get("args").Raw; args != "{}" { // which they are at first
			c.Input = a2a.JSON(args)
		}
		to.call(c)
	}
	for _, v := range results {
		c := calls.ToolCall{ID: v.Get("toolCallId").Str, Name: v.Get("name").Str, Status: calls.Succeeded}
		if content := v.Get("content"); v.Get("status").Str == "error" {
			c.Status, c.Error = calls.Failed, &calls.ErrorDetails{Message: content.String()}
		} else if content.Type == gjson.JSON {
			c.Output = &calls.Output{Data: a2a.JSON(content.Raw)}
		} else {
			c.Output = &calls.Output{Text: content.String()}
		}
		to.call(c)
	}
	return true
}

// artifact is what a graph asks: in words, or whether tools may be called. Of two questions at once none can be answered.
func (langgraph) artifact(a *a2a.Artifact, at *Carrier, to *Pieces) bool {
	var value gjson.Result
	id, n := "", 0
	for p := range a.Parts.All() {
		question := gjson.Parse(string(p.Data))
		value, id, n = question.Get("value"), question.Get("id").Str, n+1
	}
	if a.Name != "Interrupt" || n != 1 || id == "" {
		return false
	}
	if value.Type == gjson.String {
		to.text(PieceText, value.Str)
		return true
	}
	all := []calls.ConfirmationOption{{ID: "approve", Name: "Allow"}, {ID: "reject", Name: "Reject"}}
	options := map[string][]calls.ConfirmationOption{} // once for each name: a question may have very many
	for _, of := range value.Get("review_configs").Array() {
		allowed := of.Get("allowed_decisions")
		options[of.Get("action_name").Str] = slices.DeleteFunc(slices.Clone(all), func(o calls.ConfirmationOption) bool {
			return allowed.Exists() && !allowed.Get(`#(=="`+o.ID+`")`).Exists()
		})
	}
	requests := value.Get("action_requests").Array()
	for i, v := range requests {
		c := calls.ToolCall{ID: id + "-" + strconv.Itoa(i), QuestionID: strconv.Itoa(i), Name: v.Get("name").Str, Input: a2a.JSON(v.Get("args").Raw),
			Status: calls.Pending, Asks: !at.Held || at.State.Waits(), Bare: true,
			Confirmation: &calls.Confirmation{Generic: &calls.GenericDetails{Description: v.Get("description").Str}, Options: all}}
		if of, known := options[c.Name]; known {
			c.Confirmation.Options = of
		}
		to.call(c)
	}
	return len(requests) > 0
}

// answer adds a decision to a message, which has those of all calls in the order in which they were asked.
func (langgraph) answer(a ask.Answer, m *a2a.Outgoing) error {
	type decision struct {
		Type string `json:"type"`
	}
	var to struct {
		Resume struct {
			Decisions []decision `json:"decisions"`
		} `json:"resume"`
	}
	if len(m.Parts) > 0 && m.Parts[0].Data != nil {
		if err := json.Unmarshal(m.Parts[0].Data, &to); err != nil {
			return err
		}
		m.Parts = m.Parts[1:]
	}
	place, err := strconv.ParseUint(a.Call.QuestionID, 10, 16)
	if err != nil {
		place = uint64(len(to.Resume.Decisions))
	}
	for uint64(len(to.Resume.Decisions)) <= place {
		to.Resume.Decisions = append(to.Resume.Decisions, decision{})
	}
	to.Resume.Decisions[place].Type = a.OptionID
	return addData(m, to, "")
}

package dialect

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// langgraph is LangGraph's server, which LangSmith runs. Each status message is what LangChain has of a
// message so far: its text, and beside it a data part with what the model's maker says of it, and with
// the calls that it makes. What became of them is text. Read from langgraph-api's source, of 2026.
// Only its card tells: agents made with LangChain send such calls in data of their own, and say nothing of
// their end.
type langgraph struct{ base }

func (langgraph) about() about { return about{name: "langgraph", sign: `"response_metadata"`} }

func (langgraph) tells(card *a2a.Card) bool {
	return gjson.Get(string(card.Raw), "skills.0.metadata.inputSchema.supportsA2A").Exists()
}

func (langgraph) knows(*a2a.Event) bool { return false }

// isLangchain reports whether a part is what LangChain says of a message.
func isLangchain(p *a2a.Part) bool {
	if p.Kind != a2a.PartData || !strings.Contains(string(p.Data), `"response_metadata"`) && !strings.Contains(string(p.Data), `"tool_calls"`) {
		return false
	}
	is := true
	gjson.Parse(string(p.Data)).ForEach(func(k, v gjson.Result) bool {
		is = k.Str == "response_metadata" && v.IsObject() || k.Str == "tool_calls" && v.Get("#").Int() > 0 &&
			v.Get("#").Int() == v.Get(`#(type=="tool_call")#|#`).Int()
		return is
	})
	return is
}

func (langgraph) message(m *a2a.Message, _ *Carrier, to *Pieces) (splits bool) {
	for p := range m.Parts.All() {
		switch {
		case p.Kind == a2a.PartText:
			to.text(PieceText, p.Text)
		case isLangchain(p):
			splits = true
			langchainCalls(gjson.Parse(string(p.Data)), to)
		default:
			to.part(p)
		}
	}
	return splits
}

// langchainCalls are the calls of a message. Nothing says later that one is done, by its ID: it is when the
// message is whole, which the model's maker says, each in a word of its own.
func langchainCalls(data gjson.Result, to *Pieces) {
	status := calls.Executing
	if first(data.Get("response_metadata"), "finish_reason", "stop_reason", "stopReason", "done_reason").Exists() {
		status = calls.Succeeded
	}
	for _, call := range data.Get("tool_calls").Array() {
		to.call(calls.ToolCall{ID: call.Get("id").Str, Name: call.Get("name").Str, Input: a2a.JSON(call.Get("args").Raw), Status: status})
	}
}

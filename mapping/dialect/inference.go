package dialect

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// inference is github.com/inference-gateway/adk's server. Each token is an event with the whole task, whose
// history has the calls of the model as OpenAI spells them, in a data part behind the text that came before.
// That comes when the calls are done; their results are not on the wire, nor whether one has failed. A state
// that is an end is there again, as data, with the error that is said as text, too. All else that it says is A2A. Tried (v0.26.3).
type inference struct{ base }

// about: its data parts have what they hold in a member of that name again.
func (inference) about() about { return about{name: "inference-gateway", sign: inferenceSign} }

const inferenceSign = `"data":{"data":{`

// recognizes: in a task the sign is searched for first, which costs less than to look at each message.
func (inference) recognizes(ev *a2a.Event) bool {
	return ev.HasMessage && splitsInference(&ev.Message) || ev.Kind == a2a.EventTask && strings.Contains(string(ev.Raw), inferenceSign) &&
		a2a.Any(ev.History, func(m a2a.Message) bool { return splitsInference(&m) })
}

// splitsInference reports whether a message has a part of the dialect's. It makes no pieces: it is
// asked of each event of most agents.
func splitsInference(m *a2a.Message) bool {
	for p := range m.Parts.All() {
		if toolCalls, again := inferencePart(p, m.ID); len(toolCalls) > 0 || again {
			return true
		}
	}
	return false
}

// inferencePart returns the calls in a part of the message of that ID, and whether the part is the state
// again. The server has IDs of its own for such messages, and nothing else stands in such a part: other
// agents have data like it.
func inferencePart(p *a2a.Part, id string) (toolCalls []gjson.Result, again bool) {
	if p.Kind != a2a.PartData || !strings.Contains(string(p.Data), `"data"`) {
		return nil, false
	}
	outer := gjson.Parse(string(p.Data)).Map()
	data := outer["data"].Map()
	switch {
	case len(outer) != 1:
	case strings.HasPrefix(id, "assistant-stream-") && len(data) == 1:
		return data["tool_calls"].Array(), false
	case strings.HasPrefix(id, "streaming-error-") && len(data) == 2 && data["error"].Exists(), // the message's text has it, too
		(strings.HasPrefix(id, "task-interrupted-") || id == "max-iterations-reached") && len(data) == 1:
		return nil, strings.HasPrefix(data["status"].Str, "TASK_STATE_")
	}
	return nil, false
}

func (inference) message(m *a2a.Message, _ *Carrier, to *Pieces) (splits bool) {
	for p := range m.Parts.All() {
		toolCalls, again := inferencePart(p, m.ID)
		switch splits = splits || again || len(toolCalls) > 0; {
		case p.Kind == a2a.PartText:
			to.text(PieceText, p.Text)
		case len(toolCalls) == 0 && !again:
			to.part(p)
		}
		for _, call := range toolCalls {
			inferenceCall(call, to)
		}
	}
	return splits
}

func inferenceCall(call gjson.Result, to *Pieces) {
	name, input := call.Get("function.name").Str, call.Get("function.arguments")
	if name == "input_required" {
		return // it asks, as the task's state does
	}
	c := calls.ToolCall{ID: call.Get("id").Str, Name: name, Input: a2a.JSON(input.Str), Status: calls.Succeeded}
	if !gjson.Valid(input.Str) { // a model has written it
		c.Input = a2a.JSON(input.Raw)
	}
	to.call(c)
}

package dialect

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// redpanda is github.com/redpanda-data/ai-sdk-go's server. What a model says is streamed as an artifact, and
// then is a status message as a whole, with the calls in data parts and the number of tokens. The results of calls are
// status messages of the user's. What a model thinks is text like its answer, in front of it, in the message alone.
// Recorded from main of April 2026.
type redpanda struct{ base }

// about: a result names its call, and leaves out what the call said.
func (redpanda) about() about {
	return about{name: "redpanda", sign: redpandaSign, traits: Traits{Differences: true}}
}

// redpandaSign is the member of a number of tokens that nobody else has there.
const redpandaSign = `"max_input_tokens"`

// redpandaUsage is the number of tokens in metadata, if it is of the dialect.
func redpandaUsage(metadata a2a.JSON) (usage gjson.Result, ok bool) {
	if !strings.Contains(string(metadata), redpandaSign) {
		return gjson.Result{}, false
	}
	usage = gjson.Get(string(metadata), "usage")
	return usage, usage.Get("max_input_tokens").Exists() && usage.Get("reasoning_tokens").Exists()
}

// readMeta: the event that ends a task has the tokens of all its messages.
func (redpanda) readMeta(metadata a2a.JSON, m *Meta) bool {
	usage, ok := redpandaUsage(metadata)
	if ok = ok && gjson.Get(string(metadata), "finish_reason").Exists(); ok {
		m.Usage = a2a.JSON(usage.Raw)
	}
	return ok
}

func (redpanda) recognizes(ev *a2a.Event) bool {
	counts := func(m a2a.Message) bool {
		_, ok := redpandaUsage(m.Metadata)
		return ok && m.Role == a2a.RoleAgent
	}
	return ev.HasMessage && counts(ev.Message) ||
		ev.Kind == a2a.EventTask && strings.Contains(string(ev.Raw), redpandaSign) && a2a.Any(ev.History, counts)
}

// maxAnswers is of how many texts of a message it is asked whether they were streamed: each costs a search in the turn.
const maxAnswers = 64

// message: the last text is what was streamed before. One in front of it is what the model has thought, unless it was
// streamed with it: thoughts are not, and some models answer in several texts.
func (redpanda) message(m *a2a.Message, at *Carrier, to *Pieces) bool {
	if _, ok := redpandaUsage(m.Metadata); !ok && !(redpanda{}).ofUser(m) {
		return false
	}
	for p := range m.Parts.All() {
		switch {
		case redpandaCall(p, to):
		case p.Kind == a2a.PartText:
			to.text(PieceText, p.Text)
		default:
			to.part(p)
		}
	}
	answer, asked := "", 0
	for i := len(to.List) - 1; i >= 0; i-- {
		p := &to.List[i]
		if p.Kind != PieceText {
			continue
		}
		p.Kind = PieceWholeThought
		if asked == 0 || asked < maxAnswers && at.Turn.HasSaid(p.Text+answer) {
			p.Kind, answer = PieceWhole, p.Text+answer
		}
		asked++
	}
	return true
}

// ofUser: the results of calls have the user's role. A message that has anything beside them is the user's: his words
// are not shown as the agent's.
func (redpanda) ofUser(m *a2a.Message) bool {
	if m.Role != a2a.RoleUser {
		return false
	}
	results := false
	for p := range m.Parts.All() {
		if results = redpandaType(p) == "tool_response"; !results {
			return false
		}
	}
	return results
}

// redpandaType says what a data part is, "" if it is nothing of the dialect's.
func redpandaType(p *a2a.Part) string {
	if p.Kind != a2a.PartData {
		return ""
	}
	return gjson.Get(string(p.Metadata), "data_type").Str
}

// redpandaCall adds the call, or the result, that a part is; false: it is neither.
func redpandaCall(p *a2a.Part, to *Pieces) bool {
	v := gjson.Parse(string(p.Data))
	c := calls.ToolCall{ID: v.Get("id").Str, Name: v.Get("name").Str, Status: calls.Executing}
	switch redpandaType(p) {
	case "tool_request":
		c.Input = a2a.JSON(v.Get("arguments").Raw)
	case "tool_response":
		c.Status = calls.Succeeded
		if reason := v.Get("error").Str; reason != "" {
			c.Status, c.Error = calls.Failed, &calls.ErrorDetails{Message: reason}
		} else if result := v.Get("result"); result.Type == gjson.JSON {
			c.Output = &calls.Output{Data: a2a.JSON(result.Raw)}
		} else {
			c.Output = &calls.Output{Text: result.String()}
		}
	default:
		return false
	}
	to.call(c)
	return true
}

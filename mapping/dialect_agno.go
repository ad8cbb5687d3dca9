package mapping

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// agno is Agno's A2A interface. Read in source only (os/interfaces/a2a/utils.py,
// 2026-08-23). The answer is a row of messages with one ID, whose metadata tell text
// from reasoning; calls are status updates without a message.
type agno struct{ quiet }

func (agno) name() string { return "agno" }

func (agno) traits() Traits { return Traits{Differences: true} }

func (agno) sign() string { return `"agno_` }

func (agno) knows(ev *a2a.Event) bool {
	return anyMetadata(ev, func(m a2a.JSON) bool { return keysWith(m, "agno_") })
}

func (agno) event(at *carrier, to *pieces) {
	v := gjson.Parse(string(at.metadata))
	c := ToolCall{ID: v.Get("tool_call_id").String(), Name: v.Get("tool_name").String()}
	if c.ID == "" {
		return
	}
	if args := v.Get("tool_args").String(); gjson.Valid(args) && strings.HasPrefix(args, "{") {
		c.Input = a2a.JSON(args)
	}
	switch v.Get("agno_event_type").Str {
	case "tool_call_started":
		c.Status = ToolExecuting
	case "tool_call_completed":
		c.Status = ToolSucceeded
		if result := v.Get("tool_result").String(); result != "" {
			c.Output = &ToolOutput{Text: result}
		}
	default:
		return
	}
	to.call(c)
}

func (agno) message(m *a2a.Message, at *carrier, to *pieces) bool {
	if gjson.Get(string(m.Metadata), "agno_content_category").Str != "reasoning" && gjson.Get(string(at.metadata), "agno_content_category").Str != "reasoning" {
		return false
	}
	for p := range m.Parts.All() {
		if p.Kind == a2a.PartText {
			to.text(pieceThought, p.Text)
		}
	}
	return true
}

package mapping

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// iac is iac-code of Alibaba Cloud. Read in source only (aliyun/iac-code, 2026-08-21:
// src/iac_code/a2a/events.py and its protocol reference).
//
// Text comes in status messages, each a chunk; thoughts, calls, usage and questions are
// in the event's metadata, under iac_code. A turn ends in state input-required, also
// where nothing is asked. A question is answered by a message beside the one that runs.
type iac struct{ quiet }

const iacKey = "iac_code"

func (iac) name() string { return "iac-code" }

func (iac) traits() Traits {
	return Traits{Differences: true, Chunks: true, GoesOnAsking: true, EndsAsking: true}
}

func (iac) sign() string { return iacKey }

func (iac) tells(card *a2a.Card) bool { return declares(card, "urn:iac-code:a2a:") }

func (iac) extensions() []string {
	return []string{"urn:iac-code:a2a:artifact-metadata:v1", "urn:iac-code:a2a:thinking-exposure:v1"}
}

func (iac) knows(ev *a2a.Event) bool { return gjson.Get(string(ev.Metadata), iacKey).IsObject() }

// settings: the directory must stay the same within a context.
func (iac) settings(s AgentSettings, _ string) (key string, members map[string]any) {
	return iacKey, map[string]any{"cwd": s.Workspace}
}

func (d iac) event(at *carrier, to *pieces) {
	v := gjson.Get(string(at.metadata), iacKey)
	if t := v.Get("thinking.text"); t.Type == gjson.String {
		to.text(pieceThought, t.Str)
	}
	if u := v.Get("usage"); u.IsObject() {
		to.usage = a2a.JSON(u.Raw)
	}
	if t := v.Get("tool"); t.IsObject() {
		d.tool(t, to)
	}
	if in := v.Get("input"); in.Get("kind").Str == "permission" && at.state == a2a.StateInputRequired {
		d.question(in, to)
	}
}

func (iac) tool(t gjson.Result, to *pieces) {
	c := ToolCall{ID: t.Get("toolUseId").String(), Name: t.Get("name").String()}
	if in := t.Get("inputSummary"); in.IsObject() {
		c.Input = a2a.JSON(in.Raw)
	} else if in.Type == gjson.String {
		c.Description = in.Str
	}
	result := t.Get("result")
	text := first(result, "text", "content", "summary", "output").String()
	if result.Type == gjson.String {
		text = result.Str
	}
	switch t.Get("status").Str {
	case "started":
		c.Status = ToolPending
	case "input_complete", "progress":
		c.Status = ToolExecuting
	case "completed":
		c.Status = ToolSucceeded
		if text != "" {
			c.Output = &ToolOutput{Text: text}
		} else if result.Exists() {
			c.Output = &ToolOutput{Data: a2a.JSON(result.Raw)}
		}
	case "failed":
		c.Status, c.Error = ToolFailed, &ErrorDetails{Message: text}
		if text == "" {
			c.Error.Message = strings.TrimSpace(result.Raw)
		}
	default:
		return // a piece of the input, of which only the length is sent
	}
	to.call(c)
}

func (iac) question(in gjson.Result, to *pieces) {
	c := ToolCall{ID: in.Get("toolUseId").String(), QuestionID: in.Get("inputId").String(), Name: in.Get("toolName").String(), Status: ToolPending, Asks: true,
		Confirmation: &Confirmation{Generic: &GenericDetails{}}, Extra: a2a.JSON(in.Raw)}
	var text []string
	for _, key := range [...]string{"title", "prompt", "purpose", "effect", "target", "safeSummary"} {
		if s := in.Get(key); s.Type == gjson.String && s.Str != "" {
			text = append(text, s.Str)
		}
	}
	c.Confirmation.Generic.Description = strings.Join(text, "\n")
	in.Get("options").ForEach(func(_, o gjson.Result) bool {
		option := ConfirmationOption{ID: first(o, "id", "value", "decision").String(), Name: first(o, "label", "name").String()}
		if o.Type == gjson.String {
			option.ID = o.Str
		}
		// Names are in the user's language; the two IDs are the protocol's.
		switch option.ID {
		case "allow_once", "deny":
			c.Confirmation.Options = append(c.Confirmation.Options, option)
		}
		return true
	})
	to.call(c)
}

func (iac) options(c *ToolCall) []Option {
	if len(c.Confirmation.Options) > 0 {
		return nil
	}
	return []Option{ask.NewOption(ConfirmationOption{ID: "allow_once", Name: "Allow"}), ask.NewOption(ConfirmationOption{ID: "deny", Name: "Deny"})}
}

// aside answers by a message that has this part and nothing else.
func (iac) aside(a Answer, m *a2a.Outgoing) (SideRequest, error) {
	in := gjson.Parse(string(a.Call.Extra))
	return SideRequest{}, addData(m, struct {
		Version   int    `json:"schemaVersion"`
		Kind      string `json:"kind"`
		TaskID    string `json:"requestTaskId"`
		InputID   string `json:"inputId"`
		ToolUseID string `json:"toolUseId"`
		Decision  string `json:"decision"`
	}{1, "permission", in.Get("requestTaskId").String(), in.Get("inputId").String(), in.Get("toolUseId").String(), a.OptionID}, "")
}

// taken reads the acknowledgement, a data part of the agent's reply. A question that was
// decided before, by a timeout or another client, is acknowledged with that decision.
func (iac) taken(a Answer, reply *a2a.Event) error {
	for p := range reply.Message.Parts.All() {
		ack := gjson.Parse(string(p.Data))
		if ack.Get("kind").Str != "permission_ack" || ack.Get("inputId").String() != a.Call.QuestionID {
			continue
		}
		if ok := ack.Get("accepted"); ok.Exists() && !ok.Bool() {
			return errors.New("it says that it has not accepted it")
		}
		if d := ack.Get("decision").String(); d != "" && d != a.OptionID {
			return fmt.Errorf("it goes by %q instead of %q", d, a.OptionID)
		}
	}
	return nil
}

package task

import (
	"cmp"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// decision puts a user's answer to a tool call into words. The answer names the call
// and the option, in members of the development-tool extension (ToolCallConfirmation)
// or of Gemini's server. ok is false for other data.
func (t *teller) decision(part *a2a.Part) (text string, ok bool) {
	if part.Kind != a2a.PartData {
		return "", false
	}
	data := gjson.Parse(string(part.Data))
	option := first(data, "selected_option_id", "selectedOptionId", "outcome")
	id := first(data, "tool_call_id", "toolCallId", "callId")
	if option == "" {
		return "", false
	}
	call := t.calls[id]
	of := "the call " + id
	if call != nil {
		of = mapping.Title(call)
	}
	own := ""
	if data.Get("file_details").Exists() || data.Get("fileDetails").Exists() || data.Get("newContent").Exists() {
		own = ", with a text of your own"
	}
	return chose(call, option) + ": " + of + own, true
}

func first(data gjson.Result, names ...string) string {
	for _, name := range names {
		if v := data.Get(name); v.Type == gjson.String {
			return v.Str
		}
	}
	return ""
}

// chose tells what an option means: by the call's options, or by the option's ID where
// the agent no longer shows these.
func chose(call *mapping.ToolCall, option string) string {
	offered := mapping.ConfirmationOption{ID: option}
	if call != nil && call.Confirmation != nil {
		for _, o := range call.Confirmation.Options {
			if o.ID == option {
				offered = o
			}
		}
	}
	q := mapping.NewQuestion(&mapping.ToolCall{Confirmation: &mapping.Confirmation{Options: []mapping.ConfirmationOption{offered}}})
	o, found := q.Pick(option)
	if !found || !o.Certain {
		return "chose " + cmp.Or(offered.Name, option)
	}
	switch o.Kind {
	case acp.OptionAllowOnce:
		return "allowed once"
	case acp.OptionAllowAlways:
		return "allowed from then on"
	}
	return "rejected"
}

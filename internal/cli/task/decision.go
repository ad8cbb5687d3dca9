package task

import (
	"cmp"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping"
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
	of := "the call " + id
	if call := t.calls[id]; call != nil {
		of = mapping.Title(call)
		if call.Confirmation != nil {
			for _, o := range call.Confirmation.Options {
				if o.ID == option {
					option = cmp.Or(o.Name, option)
				}
			}
		}
	}
	if data.Get("file_details").Exists() || data.Get("fileDetails").Exists() || data.Get("newContent").Exists() {
		option += ", with a text of your own"
	}
	return "chose " + option + ": " + of, true
}

func first(data gjson.Result, names ...string) string {
	for _, name := range names {
		if v := data.Get(name); v.Type == gjson.String {
			return v.Str
		}
	}
	return ""
}

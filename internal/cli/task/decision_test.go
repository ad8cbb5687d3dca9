package task

import (
	"testing"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A decision has the option's own name, and tells of a text that the user has edited.
func TestDecision(t *testing.T) {
	call := &mapping.ToolCall{ID: "1", DisplayName: "write f", Confirmation: &mapping.Confirmation{Options: []mapping.ConfirmationOption{{ID: "once", Name: "Yes, once"}}}}
	for data, want := range map[string]string{
		`{"tool_call_id":"1","selected_option_id":"once"}`:                                    "chose Yes, once: write f",
		`{"tool_call_id":"1","selected_option_id":"once","file_details":{"new_content":"x"}}`: "chose Yes, once, with a text of your own: write f",
		`{"callId":"2","outcome":"proceed_once","newContent":""}`:                             "chose proceed_once, with a text of your own: the call 2",
		`{"callId":"2"}`: "",
	} {
		tell := &teller{calls: map[string]*mapping.ToolCall{"1": call}}
		if got, _ := tell.decision(&a2a.Part{Kind: a2a.PartData, Data: a2a.JSON(data)}); got != want {
			t.Errorf("%s: %q", data, got)
		}
	}
}

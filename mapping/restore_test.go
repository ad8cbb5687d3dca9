package mapping

import "testing"

// TestMend: if the beginning of a call is missing, its first update becomes the beginning
// that ACP wants, with an ID and a title.
func TestMend(t *testing.T) {
	const (
		head = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":`
		same = "the same"
	)
	var m Mender
	for _, row := range []struct{ line, want string }{
		{`"tool_call","toolCallId":"a","title":"A"}}}`, same},
		{`"tool_call_update","toolCallId":"a","status":"completed"}}}`, same},
		{`"tool_call_update","toolCallId":"b\"","status":"completed"}}}`, `"tool_call","toolCallId":"b\"","title":"Tool call","status":"completed"}}}`},
		{`"tool_call_update","toolCallId":"b\"","title":"B"}}}`, same},
		{`"tool_call_update","toolCallId":"c","title":"C","kind":"edit"}}}`, `"tool_call","toolCallId":"c","title":"C","kind":"edit"}}}`},
		{`"tool_call_update","toolCallId":"d","title":null}}}`, ""},
		{`"tool_call_update","status":"completed"}}}`, ""},
		{`"tool_call_update","toolCallId":7}}}`, ""},
		{`"agent_message_chunk","content":{"type":"text","text":"\"sessionUpdate\":\"tool_call_update\""}}}}`, same},
		{`"agent_message_chunk","content":{"type":"text","sessionUpdate":"tool_call"}}}}`, same},
	} {
		line, want := head+row.line, row.want
		switch want {
		case same:
			want = line
		case "":
		default:
			want = head + want
		}
		if got := string(m.Mend([]byte(line))); got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
	const foreign = `{"params":{"update":{"toolCallId":"x","sessionUpdate":"tool_call_update","k":"\"sessionUpdate\":\"tool_call"}}}`
	if got := m.Mend([]byte(foreign)); got != nil {
		t.Errorf("%s is not as we write it, and became %s", foreign, got)
	}
}

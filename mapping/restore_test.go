package mapping

import (
	"bytes"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

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

// TestRestoreHeadless: pieces of an artifact were heard in two turns, each behind something
// that was not. The task has the whole, also for another process: what was not heard is shown.
func TestRestoreHeadless(t *testing.T) {
	piece := func(fold *Fold, text string) []Step {
		fold.Begin("t")
		return fold.Event(&a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Artifact: a2a.Artifact{ID: "a", Parts: textParts(text)}, Append: true}, nil)
	}
	first := NewFold()
	steps := piece(first, "two ")
	second := NewFold()
	second.Restore([]byte(`{"params":{"update":{"sessionUpdate":"user_message_chunk"}}}`))
	second.Restore(bytes.TrimSpace(Marks(nil, steps)))
	second.Restore([]byte(`{"params":{"update":{"sessionUpdate":"agent_message_chunk","messageId":"` + steps[0].Shown + `","content":{"type":"text","text":"two "}}}}`))
	for _, fold := range []*Fold{first, second} {
		piece(fold, "four ")
		fold.Cut()
		task := &a2a.Event{Kind: a2a.EventTask, TaskID: "t", Artifacts: seq([]a2a.Artifact{{ID: "a", Parts: textParts("one two three four five")}})}
		if got := textOf(fold.Event(task, nil)); got != "one three five" {
			t.Errorf("%q is shown", got)
		}
	}
}

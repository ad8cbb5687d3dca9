package bridge_test

import (
	"fmt"
	"testing/synctest"

	"github.com/tidwall/gjson"
)

// legs is prompt for an editor that speaks A2A lines: it makes a request for each leg, and
// checks that the numbers of the events have no gap.
func (p *cutPlay) legs() (shownToEditor, *cutFacts) {
	got := shownToEditor{tools: map[string]string{}}
	p.request("message/stream", `{"text":"go","workspace":"/"}`)
	var end gjson.Result
	for {
		seq := int64(0)
		end = p.reply(func(m gjson.Result) {
			if seq++; m.Get("params.seq").Int() != seq {
				p.t.Errorf("event %d has the number %s", seq, m.Get("params.seq").Raw)
			}
			p.seeLine(&got, m)
		})
		result := end.Get("result")
		if result.Exists() && result.Get("seq").Int() != seq {
			p.t.Errorf("%d events, and the result says %s", seq, result.Get("seq").Raw)
		}
		pending := result.Get("pending.0").Str
		if pending == "" {
			break
		}
		got.asked++
		p.request("toolCall/confirm", fmt.Sprintf(`{"taskId":%q,"confirmations":[{"toolCallId":%q,"optionId":"proceed_once"}]}`,
			result.Get("taskId").Str, pending))
	}
	if end.Get("result").Exists() {
		got.stop, got.err = "end_turn", end.Get("result.error").Str
	}
	got.err += end.Get("error.message").Str
	synctest.Wait()
	task := p.agent.takeFacts()
	if !end.Exists() {
		// It hangs. It is cancelled, so that the next conversation can begin.
		fmt.Fprintf(p.editor, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}`+"\n", p.id)
		p.reply(nil)
	}
	return got, task
}

// seeLine is see for events.
func (p *cutPlay) seeLine(got *shownToEditor, m gjson.Result) {
	e := m.Get("params")
	switch m.Get("method").Str {
	case "event/text", "event/artifact":
		id, text := e.Get("messageId").Str+e.Get("artifactId").Str, e.Get("text").Str
		if n := len(got.texts); n > 0 && got.texts[n-1].id == id {
			got.texts[n-1].text += text
			return
		}
		got.texts = append(got.texts, shownText{id, text})
	case "event/connection":
		if e.Get("gap").Bool() {
			got.gaps++
		}
	case "event/toolCall":
		call := e.Get("toolCall")
		got.tools[call.Get("tool_call_id").Str] = call.Get("status").Str + call.Get("output").Raw
	}
}

package view

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/event"
)

func (it *Item) request(r *trace.Record) {
	it.From, it.To, it.Type = LaneBridge, LaneAgent, TypeRequest
	doc, _ := r.Document()
	it.Name = cmp.Or(r.Method, r.HTTP)
	if u, err := url.Parse(r.URL); err == nil && r.Method == "" {
		it.Name += " " + u.RequestURI()
	}
	p := doc.Get("params")
	if !p.Exists() {
		p = doc // the HTTP+JSON binding
	}
	it.Task = event.TaskOf(p, it.Name)
	it.Text = cmp.Or(texts(p.Get("message.parts")), shortID(it.Task))
	p.Get("message.parts").ForEach(func(_, part gjson.Result) bool {
		data := part.Get("data")
		if id := first(data, "tool_call_id", "callId"); id != "" {
			it.Mark = "ask"
			it.Calls = append(it.Calls, Call{ID: id})
			it.Text = strings.TrimSpace("answer: " + first(data, "selected_option_id", "outcome"))
		}
		return true
	})
	if strings.Contains(strings.ToLower(it.Name), "subscribe") {
		it.Mark = "reconnect"
	}
}

// answer interprets an event of a stream, or a body.
func (it *Item) answer(r *trace.Record) {
	it.From, it.To, it.Type = LaneAgent, LaneBridge, TypeEvent
	if r.Kind == trace.KindBody {
		it.Type = TypeReply
	}
	doc, _ := r.Document()
	if !doc.Exists() {
		it.Name, it.Text = r.Kind, cmp.Or(r.Text, r.Comment)
		if r.Comment != "" && r.Text == "" {
			it.Name = "comment"
		}
		return
	}
	it.errorOf, it.result = doc.Get("error"), doc.Get("result")
	if it.errorOf.IsObject() {
		it.Name, it.Bad = "error", true
		it.Text = it.errorOf.Get("code").Raw + " " + it.errorOf.Get("message").Str
		return
	}
	ev := it.result
	if !ev.Exists() {
		ev = doc
	}
	it.event(ev)
	if r.Error != "" {
		it.Bad, it.Text = true, r.Error
	}
}

// event interprets the result of a request: an event of A2A, or a card.
func (it *Item) event(result gjson.Result) {
	e := event.Of(result)
	switch ev := e.Body; {
	case e.Kind != "":
		it.Name = e.Kind
	case ev.Get("supportedInterfaces").Exists(), ev.Get("protocolVersion").Exists():
		it.Name = "card"
	default:
		it.Name = cmp.Or(ev.Get("kind").Str, "result")
	}
	it.Task, it.State = e.Task, e.State
	it.parts(e.Parts())
	if e.Kind == event.Task {
		it.history(e.Body.Get("history"))
	}
	if it.Text = it.summary(e.Body); it.State != "" && it.Text != "" {
		it.Text = ": " + it.Text
	}
	it.Text = it.State + it.Text
	it.Bad = it.State == "failed" || it.State == "rejected"
	if event.Waits(it.State) {
		it.Mark = "ask"
	}
}

// summary returns what an event says, without the state.
func (it *Item) summary(ev gjson.Result) string {
	if len(it.Calls) > 0 && it.Name != "task" {
		var list []string
		for _, c := range it.Calls {
			list = append(list, strings.TrimSpace(c.Status+" "+c.Name))
		}
		return strings.Join(list, ", ")
	}
	if it.Name == "card" || it.Name == "result" && it.Said == "" {
		return cmp.Or(first(ev, "name"), ev.Raw)
	}
	return it.Said
}

// history adds the tool calls in a snapshot of a task, each in its last state.
func (it *Item) history(messages gjson.Result) {
	var history Item
	messages.ForEach(func(_, m gjson.Result) bool {
		history.parts(m.Get("parts"))
		return len(history.Calls) < maxCalls
	})
	newest := map[string]int{}
	for _, c := range history.Calls {
		if i, ok := newest[c.ID]; ok {
			it.Calls[i] = c
			continue
		}
		newest[c.ID] = len(it.Calls)
		it.Calls = append(it.Calls, c)
	}
}

// maxCalls bounds the tool calls that are read from a snapshot.
const maxCalls = 200

// parts adds text, thoughts and tool calls, in the forms of the development-tool
// extension and of Gemini CLI's server.
func (it *Item) parts(parts gjson.Result) {
	parts.ForEach(func(_, part gjson.Result) bool {
		data := part.Get("data")
		switch {
		case part.Get("text").Exists():
			it.Said += part.Get("text").Str
		case data.Get("tool_call_id").Exists():
			it.Calls = append(it.Calls, Call{ID: data.Get("tool_call_id").Str, Name: data.Get("tool_name").Str,
				Status: data.Get("status").String(), Asks: data.Get("confirmation_request").Exists()})
		case data.Get("request.callId").Exists():
			it.Calls = append(it.Calls, Call{ID: data.Get("request.callId").Str, Name: data.Get("request.name").Str,
				Status: data.Get("status").Str, Asks: data.Get("status").Str == "awaiting_approval" && !data.Get("outcome").Exists()})
		case data.Get("subject").Exists() || data.Get("description").Exists():
			it.Said += strings.TrimSpace(data.Get("subject").Str + ": " + data.Get("description").Str)
		case data.Exists():
			it.Said += data.Raw
		}
		return true
	})
}

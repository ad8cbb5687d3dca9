// Package view interprets the records of a trace for people: who said what to whom, in
// a line ([Item]); and what belongs together and how long it took ([Span]): turns,
// their requests to the agent, tool calls, approvals, reconnects.
//
// It shares no code with the bridge, whose fault may be the reason for the trace. It
// shows what it does not know by its name.
package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/trace"
)

// The lanes of a conversation.
const (
	LaneEditor = "e"
	LaneBridge = "b"
	LaneAgent  = "a"
)

// Values of [Item.Type].
const (
	TypeRequest      = "request"
	TypeReply        = "reply"
	TypeNotification = "notification"
	TypeEvent        = "event"    // of the agent's stream
	TypeHTTP         = "http"     // about the connection: a status, an end
	TypeDecision     = "decision" // of the bridge
	TypeNote         = "note"     // start, stop, stderr
)

// An Item is a record as people read it. Its members have short names in JSON, because a
// page has a hundred thousand.
type Item struct {
	N        int64            `json:"n"`
	Micros   int64            `json:"u"`
	From     string           `json:"f,omitempty"`
	To       string           `json:"t,omitempty"`
	Type     string           `json:"k"`
	Name     string           `json:"m"`           // the method, the kind of an update or event, or the decision
	Text     string           `json:"x,omitempty"` // sums up the rest: what was said, a call's title and status
	ID       string           `json:"i,omitempty"` // JSON-RPC's, as written
	Exchange int64            `json:"c,omitempty"`
	Event    int64            `json:"e,omitempty"`
	Session  string           `json:"s,omitempty"`
	Task     string           `json:"o,omitempty"`
	State    string           `json:"-"`
	Calls    []Call           `json:"l,omitempty"` // the tool calls in the record
	Said     string           `json:"-"`           // all that was said in the record, where Text is cut off
	Bad      bool             `json:"b,omitempty"` // an error, a cut, a refusal
	Mark     string           `json:"g,omitempty"` // "reconnect", "ask": to be seen from afar
	Size     int64            `json:"z,omitempty"`
	Made     []trace.EventRef `json:"p,omitempty"` // the agent's events of which the bridge has made this line

	result, errorOf gjson.Result // of an answer
	reason          string       // of an exchange's end
}

// A Call is a tool call, as one record has it.
type Call struct {
	ID, Name, Status string
	Asks             bool
}

// MarshalText implements encoding.TextMarshaler: in JSON a call is its ID.
func (c Call) MarshalText() ([]byte, error) { return []byte(c.ID), nil }

// maxText bounds an Item's text.
const maxText = 240

// Of interprets a record. Where it knows nothing, it takes the record's own words.
func Of(r *trace.Record) Item {
	it := Item{N: r.N, Micros: r.Micros, Type: TypeNote, Name: r.Kind, ID: string(r.ID), Exchange: r.Exchange, Event: r.Event,
		Session: r.Session, Task: r.Task, Size: r.Length()}
	switch r.Kind {
	case trace.KindStart:
		it.Text = strings.TrimSpace(fmt.Sprintf("%s %s, %s, %s", r.Program, r.Version, r.System, r.Mode))
	case trace.KindStop:
		it.Text = fmt.Sprintf("%d records", r.Records)
	case trace.KindStderr:
		it.From, it.To, it.Text = LaneAgent, LaneEditor, r.Text
	case trace.KindMessage:
		it.message(r)
	case trace.KindRequest:
		it.request(r)
	case trace.KindEvent, trace.KindBody:
		it.answer(r)
	case trace.KindResponse:
		it.From, it.To, it.Type, it.Name = LaneAgent, LaneBridge, TypeHTTP, fmt.Sprintf("HTTP %d", r.Status)
		it.Text = r.HeaderOf("Content-Type")
		it.Bad = r.Status >= 400
	case trace.KindEnd:
		it.end(r)
	case trace.KindDecision:
		it.decision(r)
	}
	it.Text = safe.Short(it.Text, maxText)
	return it
}

func (it *Item) end(r *trace.Record) {
	it.From, it.To, it.Type, it.Name = LaneAgent, LaneBridge, TypeHTTP, "end: "+r.Reason
	it.reason = r.Reason
	it.Bad = r.Reason == trace.EndCut || r.Reason == trace.EndFailed || r.Reason == trace.EndEOF
	if it.Bad {
		it.Mark = "cut"
	}
	if r.Reason == trace.EndClosed || r.Reason == trace.EndCanceled {
		it.From, it.To = LaneBridge, LaneAgent
	}
	it.Text = r.Error
}

func (it *Item) decision(r *trace.Record) {
	it.Type, it.Name = TypeDecision, r.What
	it.Text = r.Why
	switch r.What {
	case trace.DecideFold:
		it.Text = "it says nothing new, and the editor gets nothing of it"
	case trace.DecideReconnect, trace.DecideGiveUp:
		it.Mark = "reconnect"
		if r.Attempt > 0 {
			it.Text = strings.TrimSpace(fmt.Sprintf("attempt %d %s", r.Attempt, it.Text))
		}
	case trace.DecideAsk, trace.DecideSettle:
		it.Mark = "ask"
	case trace.DecideAnswer:
		it.Mark = "ask"
		it.Text = strings.TrimSpace(fmt.Sprintf("%s by %s (%s) %s", inWords(r.Outcome), inWords(r.By), r.Option, it.Text))
	}
	if r.Call != "" {
		it.Calls = []Call{{ID: r.Call}}
	}
}

// inWords returns plain words for those of a decision.
func inWords(word string) string {
	return cmp.Or(map[string]string{"allow_once": "allowed once", "allow_always": "allowed from then on", "reject_once": "rejected", "reject_always": "rejected from then on",
		"user": "the user", "mode": "the mode", "always": "an earlier always", "dismissed": "nobody, it was dismissed", "cancel": "a cancel"}[word], word)
}

// shortID shortens a long ID to its beginning.
func shortID(id string) string {
	if len(id) > 16 && !strings.ContainsFunc(id, func(r rune) bool { return r > 126 || r < 33 }) {
		return id[:8]
	}
	return id
}

// message interprets a line of the editor's wire.
func (it *Item) message(r *trace.Record) {
	it.From, it.To, it.Made = LaneEditor, LaneBridge, r.From
	if r.Dir == trace.DirOut {
		it.From, it.To = LaneBridge, LaneEditor
	}
	doc, _ := r.Document()
	it.Name = r.Method
	switch method := doc.Get("method"); {
	case doc.IsArray(): // MCP had that until 2025-06-18
		it.Name, it.Text = "batch", doc.Raw
	case !doc.IsObject():
		it.Name, it.Bad = "no JSON", true
		it.Text = r.Text
	case method.Exists() && doc.Get("id").Exists():
		it.Type = TypeRequest
		it.params(method.Str, doc.Get("params"))
	case method.Exists():
		it.Type = TypeNotification
		it.params(method.Str, doc.Get("params"))
	default:
		it.Type, it.result, it.errorOf = TypeReply, doc.Get("result"), doc.Get("error")
		it.reply(r.Method)
	}
	it.Name = cmp.Or(it.Name, it.Type)
}

func (it *Item) reply(method string) {
	if it.errorOf.Exists() {
		it.Bad = true
		it.Text = "error " + it.errorOf.Get("code").Raw + ": " + it.errorOf.Get("message").Str
		if details := it.errorOf.Get("data.details").Str; details != "" {
			it.Text += ": " + details
		}
		return
	}
	r := it.result
	switch method {
	case "session/request_permission":
		it.Mark = "ask"
		it.Text = strings.TrimSpace(r.Get("outcome.outcome").Str + " " + r.Get("outcome.optionId").Str)
	case "session/new", "session/load":
		if it.Session = r.Get("sessionId").Str; it.Session != "" {
			it.Text = "session " + shortID(it.Session)
		}
	case "initialize":
		it.Text = strings.TrimSpace(fmt.Sprintf("version %s %s %s", r.Get("protocolVersion").Raw,
			first(r, "agentInfo.name", "serverInfo.name"), first(r, "agentInfo.version", "serverInfo.version")))
	default:
		it.Text = first(r, "stopReason", "state", "text", "action")
		if content := r.Get("content"); content.IsArray() {
			it.Text = texts(content)
		}
		if it.Text == "" && r.Exists() && r.Raw != "{}" {
			it.Text = r.Raw
		}
		it.State, it.Task = r.Get("state").Str, first(r, "taskId", "id")
	}
}

// params interprets the parameters of the editor's wire, in either direction.
func (it *Item) params(method string, p gjson.Result) {
	it.Name = method
	it.Session = p.Get("sessionId").Str
	it.Task = first(p, "taskId", "message.taskId", "id")
	switch {
	case method == "session/update":
		it.update(p.Get("update"))
	case method == "session/prompt":
		it.Text = texts(p.Get("prompt"))
	case method == "session/request_permission":
		it.Mark = "ask"
		it.Text = p.Get("toolCall.title").Str
		it.Calls = []Call{{ID: p.Get("toolCall.toolCallId").Str, Name: it.Text, Status: p.Get("toolCall.status").Str, Asks: true}}
	case strings.HasPrefix(method, "event/"):
		it.lineEvent(p)
	case method == "initialize":
		it.Text = strings.TrimSpace(fmt.Sprintf("version %s %s %s", p.Get("protocolVersion").Raw, p.Get("clientInfo.name").Str, p.Get("clientInfo.version").Str))
	case method == "tools/call":
		it.Text = p.Get("name").Str + " " + p.Get("arguments").Raw
	case p.Get("message").Exists() || p.Get("text").Exists():
		it.Text = first(p, "text", "message") + texts(p.Get("message.parts"))
	case p.Get("cwd").Exists(), p.Get("path").Exists():
		it.Text = first(p, "cwd", "path")
	case it.Session == "" && p.Exists():
		it.Text = p.Raw
	}
}

func (it *Item) update(u gjson.Result) {
	it.Name = u.Get("sessionUpdate").Str
	switch it.Name {
	case "agent_message_chunk", "agent_thought_chunk", "user_message_chunk":
		it.Said = u.Get("content.text").Str
		it.Text = it.Said
	case "tool_call", "tool_call_update":
		c := Call{ID: u.Get("toolCallId").Str, Name: u.Get("title").Str, Status: u.Get("status").Str}
		it.Calls = []Call{c}
		it.Text = strings.TrimSpace(c.Status + " " + c.Name)
		it.Bad = c.Status == "failed"
	case "plan":
		it.Text = fmt.Sprintf("%d entries", len(u.Get("entries").Array()))
	default:
		it.Text = first(u, "title", "currentModeId")
	}
}

func (it *Item) lineEvent(p gjson.Result) {
	it.State = p.Get("state").Str
	it.Text = first(p, "text", "state", "subject", "phase", "message.text", "error.message", "error")
	if it.Name == "event/text" {
		it.Said = p.Get("text").Str
	}
	if id := p.Get("toolCall.tool_call_id").Str; id != "" {
		c := Call{ID: id, Name: p.Get("toolCall.tool_name").Str, Status: p.Get("toolCall.status").Str, Asks: p.Get("toolCall.confirmation_request").Exists()}
		it.Calls = []Call{c}
		it.Text = c.Status + " " + c.Name
	}
	if p.Get("phase").Exists() {
		it.Mark = "reconnect"
	}
	it.Bad = it.Name == "event/error"
}

// first returns the first of some members that is a string and not empty; "" if none is.
func first(r gjson.Result, paths ...string) string {
	for _, path := range paths {
		if v := r.Get(path); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return ""
}

// texts joins the texts of a message's parts, or of ACP's content blocks, with a word
// for any other part.
func texts(parts gjson.Result) string {
	var b strings.Builder
	for _, p := range parts.Array() {
		switch {
		case p.Get("text").Exists():
			b.WriteString(p.Get("text").Str)
		case p.Get("data").IsObject() || p.Get("data").IsArray():
			b.WriteString(p.Get("data").Raw)
		default:
			name := first(p, "file.name", "filename", "name", "uri", "resource.uri", "url", "type", "kind")
			b.WriteString("[" + name + "]")
		}
	}
	return b.String()
}

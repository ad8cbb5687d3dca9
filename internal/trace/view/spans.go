package view

import (
	"cmp"
	"strings"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// Values of [Span.Kind].
const (
	SpanTurn      = "turn"      // from a prompt to its reply
	SpanLeg       = "leg"       // a request to the agent, with its stream
	SpanCall      = "call"      // a tool call
	SpanApproval  = "approval"  // the user was asked
	SpanReconnect = "reconnect" // there was no connection
)

// maxSpans bounds a trace's spans, and what is remembered to find their ends. Later
// records are in no span.
const maxSpans = 100_000

// A Span is a group of records, and how long it took. The page gets what has a name in JSON.
type Span struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Start and End are microseconds since the trace began. End is 0 while it is
	// open.
	Start int64 `json:"start"`
	End   int64 `json:"end,omitempty"`
	// First and Last are records.
	First    int64  `json:"first"`
	Last     int64  `json:"-"`
	Parent   int    `json:"-"` // the index of the turn it belongs to, or -1
	Session  string `json:"-"`
	Task     string `json:"-"`
	Exchange int64  `json:"-"`
	// Status tells how it ended: a stop reason, a call's status, the decision.
	Status string `json:"status,omitempty"`
	Bad    bool   `json:"bad,omitempty"`
	// FirstEvent is when a leg's first event came.
	FirstEvent int64 `json:"first_event,omitempty"`
	Events     int64 `json:"events,omitempty"`
}

// A Builder finds spans in a trace's items, in their order.
type Builder struct {
	Spans []Span
	// Editor: there is an editor's wire, whose requests are the turns. Otherwise the
	// agent's are.
	Editor bool

	turns     map[string]int // open ones, by the request's ID
	legs      map[int64]int  // by exchange
	calls     map[string]int // open ones, by session or task, and ID
	approvals map[string]int // open ones, by the request's ID or the call's
	lost      int            // the open reconnect, or -1
	last      int            // the newest turn
}

// NewBuilder returns a Builder.
func NewBuilder() *Builder {
	return &Builder{turns: map[string]int{}, legs: map[int64]int{}, calls: map[string]int{}, approvals: map[string]int{}, lost: -1, last: -1}
}

// begin begins a span, and returns its index; -1 if there are too many.
func (b *Builder) begin(kind string, it *Item, name string) int {
	if len(b.Spans) >= maxSpans {
		return -1
	}
	parent := -1
	if kind != SpanTurn {
		parent = b.turnOf(it)
	}
	b.Spans = append(b.Spans, Span{Kind: kind, Name: name, Start: it.Micros, First: it.N, Parent: parent,
		Session: it.Session, Task: it.Task, Exchange: it.Exchange})
	return len(b.Spans) - 1
}

// turnOf is an item's turn: that of its session or task, or else the newest.
func (b *Builder) turnOf(it *Item) int {
	for i := len(b.Spans) - 1; i >= 0 && i > len(b.Spans)-1000; i-- {
		s := &b.Spans[i]
		if s.Kind == SpanTurn && (it.Session != "" && s.Session == it.Session || it.Task != "" && s.Task == it.Task) {
			return i
		}
	}
	return b.last
}

func (b *Builder) end(i int, it *Item, status string, bad bool) {
	if i < 0 || b.Spans[i].End > 0 {
		return
	}
	s := &b.Spans[i]
	s.End, s.Last, s.Status, s.Bad = max(it.Micros, s.Start+1), it.N, status, bad
}

// Add takes the next item.
func (b *Builder) Add(it *Item) {
	switch {
	case it.From == LaneEditor || it.To == LaneEditor:
		b.Editor = b.Editor || it.Name != trace.KindStderr
		b.editor(it)
	case it.From == LaneAgent || it.To == LaneAgent:
		b.agent(it)
	case it.Type == TypeDecision:
		b.decision(it)
	}
}

// begins reports whether a method of the editor's wire begins a turn.
func begins(method string) bool {
	switch method {
	case "session/prompt", "message/stream", "message/send", "toolCall/confirm", "command/execute", "tasks/resubscribe", "tools/call":
		return true
	}
	return false
}

func (b *Builder) editor(it *Item) {
	switch {
	case it.Type == TypeRequest && it.From == LaneEditor && begins(it.Name):
		i := b.begin(SpanTurn, it, it.Name)
		b.turns[it.ID], b.last = i, i
	case it.Type == TypeReply && it.To == LaneEditor && b.open(b.turns, it.ID):
		b.end(b.turns[it.ID], it, cmp.Or(stopReason(it), it.Text), it.Bad)
		delete(b.turns, it.ID)
	case it.Type == TypeRequest && it.To == LaneEditor && len(it.Calls) > 0:
		i := b.begin(SpanApproval, it, it.Calls[0].Name)
		b.approvals["editor "+it.ID] = i
	case it.Type == TypeReply && it.From == LaneEditor && b.open(b.approvals, "editor "+it.ID):
		b.end(b.approvals["editor "+it.ID], it, it.Text, it.Bad)
		delete(b.approvals, "editor "+it.ID)
	}
	if it.Type == TypeNotification {
		for _, c := range it.Calls {
			b.call(it, it.Session+" "+c.ID, c)
		}
	}
}

func stopReason(it *Item) string { return first(it.result, "stopReason", "state") }

func (b *Builder) open(m map[string]int, key string) bool { _, ok := m[key]; return ok }

// call takes an update of a tool call.
func (b *Builder) call(it *Item, key string, c Call) {
	i, ok := b.calls[key]
	if !ok {
		if len(b.calls) >= maxSpans {
			return
		}
		i = b.begin(SpanCall, it, c.Name)
		b.calls[key] = i
	}
	if i < 0 {
		return
	}
	s := &b.Spans[i]
	if c.Name != "" {
		s.Name = c.Name
	}
	switch status := strings.ToLower(c.Status); status {
	case "completed", "succeeded", "success":
		b.end(i, it, "completed", false)
	case "failed", "error", "cancelled", "canceled":
		b.end(i, it, status, status != "cancelled" && status != "canceled")
	}
}

// isLeg reports whether a method begins a leg.
func isLeg(method string) bool {
	switch method {
	case "message/stream", "message/send", "SendMessage", "SendStreamingMessage", "tasks/resubscribe", "SubscribeToTask", "command/execute":
		return true
	}
	return strings.Contains(method, "message:") || strings.Contains(method, ":subscribe")
}

func (b *Builder) agent(it *Item) {
	if it.Type == TypeRequest {
		if isLeg(it.Name) {
			b.beginLeg(it)
		}
		for _, c := range it.Calls {
			if i, ok := b.approvals["call "+c.ID]; ok {
				b.end(i, it, strings.TrimPrefix(it.Text, "answer: "), false)
				delete(b.approvals, "call "+c.ID)
			}
		}
		return
	}
	i, ok := b.legs[it.Exchange]
	if !ok || i < 0 {
		return
	}
	leg := &b.Spans[i]
	switch {
	case it.Type == TypeEvent || it.Type == TypeReply:
		b.event(it, leg)
	case it.Type == TypeHTTP && strings.HasPrefix(it.Name, "end"):
		status := it.reason
		b.end(i, it, status, it.Bad)
		if turn := leg.Parent; !b.Editor && turn >= 0 && b.Spans[turn].Exchange == it.Exchange {
			b.end(turn, it, cmp.Or(b.Spans[turn].Status, status), it.Bad)
		}
		delete(b.legs, it.Exchange)
		if it.Mark == "cut" && b.lost < 0 {
			b.lost = b.begin(SpanReconnect, it, "no connection")
		}
	}
}

func (b *Builder) beginLeg(it *Item) {
	if i := b.resumed(it); i >= 0 { // it goes on
		b.Spans[i].End, b.Spans[i].Last, b.Spans[i].Bad, b.Spans[i].Exchange, b.last = 0, 0, false, it.Exchange, i
	} else if !b.Editor {
		b.last = b.begin(SpanTurn, it, it.Name)
	}
	if len(b.legs) < maxSpans {
		b.legs[it.Exchange] = b.begin(SpanLeg, it, it.Name)
	}
}

// resumed returns the turn that a client's request goes on with, by following its task
// again; -1 if there is none.
func (b *Builder) resumed(it *Item) int {
	if b.Editor || it.Task == "" || !strings.Contains(strings.ToLower(it.Name), "subscribe") {
		return -1
	}
	for i := len(b.Spans) - 1; i >= 0; i-- {
		if s := &b.Spans[i]; s.Kind == SpanTurn && s.Task == it.Task {
			return i
		}
	}
	return -1
}

func (b *Builder) event(it *Item, leg *Span) {
	leg.Events++
	if leg.FirstEvent == 0 {
		leg.FirstEvent = it.Micros
		b.end(b.lost, it, "connected", false)
		b.lost = -1
	}
	if it.Task != "" {
		leg.Task = it.Task
		if leg.Parent >= 0 {
			b.Spans[leg.Parent].Task = it.Task
		}
	}
	if b.Editor {
		return
	}
	if leg.Parent >= 0 && it.State != "" {
		b.Spans[leg.Parent].Status = it.State
	}
	for _, c := range it.Calls {
		b.call(it, it.Task+" "+c.ID, c)
		if key := "call " + c.ID; c.Asks && !b.open(b.approvals, key) {
			b.approvals[key] = b.begin(SpanApproval, it, c.Name)
		}
	}
}

func (b *Builder) decision(it *Item) {
	if it.Name == trace.DecideReconnect && b.lost < 0 {
		b.lost = b.begin(SpanReconnect, it, "no connection")
	}
}

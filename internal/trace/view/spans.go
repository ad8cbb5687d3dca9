package view

import (
	"cmp"
	"slices"
	"strconv"
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

// A Span is a group of records, and how long it took. The page gets what has a name in JSON.
type Span struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Start and End are microseconds since the trace began. End is 0 while it is
	// open.
	Start int64 `json:"start"`
	End   int64 `json:"end,omitempty"`
	// First and Last are numbers of records. Last is 0 while the span is open.
	First      int64  `json:"first"`
	Last       int64  `json:"-"`
	Parent     int    `json:"-"` // the index of the turn it belongs to, or -1
	Exchange   int64  `json:"-"`
	Status     string `json:"status,omitempty"` // tells how it ended: a stop reason, a call's status, the decision
	Bad        bool   `json:"bad,omitempty"`
	FirstEvent int64  `json:"first_event,omitempty"` // when a leg's first event came
	Events     int64  `json:"events,omitempty"`
}

// A Builder finds spans in a trace's items, in their order.
type Builder struct {
	Spans []Span
	// Editor: there is an editor's wire, whose requests are the turns. Otherwise the
	// agent's are.
	Editor bool

	// Indexes in Spans: the newest span of a kind and name, the newest turn of a session or
	// task, and the newest turn, or -1.
	named, turns map[string]int
	last         int
}

func NewBuilder() *Builder {
	return &Builder{named: map[string]int{}, turns: map[string]int{}, last: -1}
}

// span returns the newest span of a kind and name, nil if there is none.
func (b *Builder) span(kind, name string) *Span {
	if i, ok := b.named[kind+" "+name]; ok {
		return &b.Spans[i]
	}
	return nil
}

// begin begins a span, which is found by its name. The pointer is valid until the next begins.
func (b *Builder) begin(kind, name string, it *Item, title string) *Span {
	parent, i := -1, len(b.Spans)
	if kind == SpanTurn {
		b.last = i
		b.about(it.Session, i)
		b.about(it.Task, i)
	} else {
		parent = b.turnOf(it)
	}
	b.Spans = append(b.Spans, Span{Kind: kind, Name: title, Start: it.Micros, First: it.N, Parent: parent, Exchange: it.Exchange})
	b.named[kind+" "+name] = i
	return &b.Spans[i]
}

// about notes which session or task a turn is about.
func (b *Builder) about(id string, turn int) {
	if id != "" {
		b.turns[id] = turn
	}
}

// turnOf returns an item's turn: that of its session or task, or else the newest, or -1.
func (b *Builder) turnOf(it *Item) int {
	for _, id := range [...]string{it.Session, it.Task} {
		if i, ok := b.turns[id]; ok {
			return i
		}
	}
	return b.last
}

// open reports whether a span is there and has not ended.
func (s *Span) open() bool { return s != nil && s.End == 0 }

// end ends a span with an item, if there is such a span and it is open.
func (s *Span) end(it *Item, status string, bad bool) {
	if s.open() {
		s.End, s.Last, s.Status, s.Bad = max(it.Micros, s.Start+1), it.N, status, bad
	}
}

// Add takes the next item.
func (b *Builder) Add(it *Item) {
	switch {
	case it.From == LaneEditor || it.To == LaneEditor:
		b.Editor = b.Editor || it.Name != trace.KindStderr
		b.editor(it)
	case it.From == LaneAgent || it.To == LaneAgent:
		b.agent(it)
	case it.Type == TypeDecision && it.Name == trace.DecideReconnect:
		b.lost(it)
	}
}

// beginsTurn reports whether a method of the editor's wire begins a turn.
func beginsTurn(method string) bool {
	return slices.Contains([]string{"session/prompt", "message/stream", "message/send", "toolCall/confirm", "command/execute", "tasks/resubscribe", "tools/call"}, method)
}

func (b *Builder) editor(it *Item) {
	asks := "editor " + it.ID
	switch {
	case it.Type == TypeRequest && it.From == LaneEditor && beginsTurn(it.Name):
		b.begin(SpanTurn, it.ID, it, it.Name)
	case it.Type == TypeReply && it.To == LaneEditor:
		b.span(SpanTurn, it.ID).end(it, cmp.Or(first(it.result, "stopReason", "state"), it.Text), it.Bad)
	case it.Type == TypeRequest && it.To == LaneEditor && len(it.Calls) > 0:
		b.begin(SpanApproval, asks, it, it.Calls[0].Name)
	case it.Type == TypeReply && it.From == LaneEditor:
		b.span(SpanApproval, asks).end(it, it.Text, it.Bad)
	case it.Type == TypeNotification:
		for _, c := range it.Calls {
			b.call(it, it.Session+" "+c.ID, c)
		}
	}
}

// call takes an update of a tool call, which begins a span if the name is new.
func (b *Builder) call(it *Item, name string, c Call) {
	s := b.span(SpanCall, name)
	if s == nil {
		s = b.begin(SpanCall, name, it, c.Name)
	}
	s.Name = cmp.Or(c.Name, s.Name)
	switch status := strings.ToLower(c.Status); status {
	case "completed", "succeeded", "success":
		s.end(it, "completed", false)
	case "failed", "error", "cancelled", "canceled":
		s.end(it, status, status != "cancelled" && status != "canceled")
	}
}

// beginsLeg reports whether a method begins a leg.
func beginsLeg(method string) bool {
	return slices.Contains([]string{"message/stream", "message/send", "SendMessage", "SendStreamingMessage", "tasks/resubscribe", "SubscribeToTask", "command/execute"}, method) ||
		strings.Contains(method, "message:") || strings.Contains(method, ":subscribe")
}

func (b *Builder) agent(it *Item) {
	exchange := strconv.FormatInt(it.Exchange, 10)
	leg := b.span(SpanLeg, exchange)
	switch {
	case it.Type == TypeRequest:
		if beginsLeg(it.Name) {
			b.leg(it, exchange)
		}
		for _, c := range it.Calls {
			b.span(SpanApproval, c.ID).end(it, strings.TrimPrefix(it.Text, "answer: "), false)
		}
	case !leg.open():
	case it.Type == TypeEvent || it.Type == TypeReply:
		b.event(it, leg)
	case it.Type == TypeHTTP && strings.HasPrefix(it.Name, "end"):
		leg.end(it, it.reason, it.Bad)
		if turn := b.span(SpanTurn, "x"+exchange); turn != nil && turn.Exchange == it.Exchange {
			turn.end(it, cmp.Or(turn.Status, it.reason), it.Bad)
		}
		if it.Mark == "cut" {
			b.lost(it)
		}
	}
}

// leg begins a leg. Without an editor it is a turn, too, or one goes on: a client follows
// its task again.
func (b *Builder) leg(it *Item, exchange string) {
	resumes := !b.Editor && strings.Contains(strings.ToLower(it.Name), "subscribe")
	if i, known := b.turns[it.Task]; known && resumes {
		s := &b.Spans[i]
		s.End, s.Last, s.Bad, s.Exchange = 0, 0, false, it.Exchange
		b.last, b.named[SpanTurn+" x"+exchange] = i, i
	} else if !b.Editor {
		b.begin(SpanTurn, "x"+exchange, it, it.Name)
	}
	b.begin(SpanLeg, exchange, it, it.Name)
}

func (b *Builder) event(it *Item, leg *Span) {
	leg.Events++
	if leg.FirstEvent == 0 {
		leg.FirstEvent = it.Micros
		b.span(SpanReconnect, "").end(it, "connected", false)
	}
	if leg.Parent >= 0 {
		b.about(it.Task, leg.Parent)
		if turn := &b.Spans[leg.Parent]; !b.Editor {
			turn.Status = cmp.Or(it.State, turn.Status)
		}
	}
	if b.Editor {
		return
	}
	for _, c := range it.Calls {
		b.call(it, it.Task+" "+c.ID, c)
		if c.Asks && !b.span(SpanApproval, c.ID).open() {
			b.begin(SpanApproval, c.ID, it, c.Name)
		}
	}
}

// lost begins the time without a connection, unless it has begun.
func (b *Builder) lost(it *Item) {
	if !b.span(SpanReconnect, "").open() {
		b.begin(SpanReconnect, "", it, "no connection")
	}
}

package mapping

import (
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// readCall reads a data part as a tool call of some dialect; nil if it is none.
func readCall(data gjson.Result) *ToolCall {
	for _, d := range dialects() {
		if c := d.toolCall(data); c != nil {
			return c
		}
	}
	return nil
}

// toolCall shows a data part that is a tool call; false if it is none. A
// snapshot tells a call's life: only its last word is news.
func (f *Fold) toolCall(data gjson.Result, whole bool) bool {
	c := readCall(data)
	if c == nil {
		return false
	}
	if whole {
		if f.later[c.ID]--; f.later[c.ID] > 0 {
			return true
		}
	}
	if old := f.calls[c.ID]; f.echo && old != nil && old.held == f.snapshots {
		return true
	}
	f.update(c)
	if new := f.calls[c.ID]; whole {
		new.held = f.snapshots
	}
	return true
}

// countCalls counts how often a snapshot names each tool call.
func (f *Fold) countCalls(ev *a2a.Event) {
	f.later = map[string]int{}
	count := func(m *a2a.Message) {
		for p := range m.Parts.All() {
			if p.Kind != a2a.PartData || m.Role == a2a.RoleUser {
				continue
			}
			if c := readCall(gjson.Parse(string(p.Data))); c != nil {
				f.later[c.ID]++
			}
		}
	}
	if ev.History != nil {
		for m := range ev.History {
			count(&m)
		}
	}
	if ev.HasMessage {
		count(&ev.Message)
	}
}

// liveOutput shows the output so far of a running call; false if the artifact is
// none, or of no call that we know: other agents may name artifacts alike.
func (f *Fold) liveOutput(a *a2a.Artifact) bool {
	for _, d := range dialects() {
		id, text, ok := d.liveOutput(a)
		old := f.calls[id]
		if !ok || old == nil {
			continue
		}
		if !old.Status.Ended() {
			c := *old.ToolCall
			c.Live = text
			f.update(&c)
		}
		return true
	}
	return false
}

// update shows what a tool call says anew. The whole call is sent each time, by
// the RFC; agents that leave out what they have said keep it.
func (f *Fold) update(c *ToolCall) {
	old := f.calls[c.ID]
	next := &call{raw: f.sum(c.Status.String(), strconv.FormatUint(f.headSum(c), 16), strconv.FormatUint(f.contentSum(c), 16))}
	if old != nil {
		if old.raw == next.raw && old.Asks == c.Asks || old.Status.Ended() && !c.Status.Ended() {
			f.asks(old)
			return // said before, or an echo from another connection
		}
		inherit(c, old.ToolCall)
	}
	next.head, next.content = f.headSum(c), f.contentSum(c)
	var changed ToolChange
	switch {
	case old == nil:
		changed = ToolHead | ToolState | ToolContent
	default:
		next.answered, next.held = old.answered, old.held
		if old.head != next.head {
			changed |= ToolHead
		}
		if old.Status != c.Status {
			changed |= ToolState
		}
		if old.content != next.content {
			changed |= ToolContent
		}
	}
	next.ToolCall = c.clone()
	f.calls[next.ID] = next
	f.asks(next)
	if changed != 0 {
		f.add(Step{Kind: StepTool, Tool: next.ToolCall, New: old == nil, Changed: changed})
	}
	if next.Status.Ended() {
		// What it said is only needed to tell an echo from news. The step holds
		// the call itself.
		next.ToolCall = &ToolCall{ID: next.ID, Status: next.Status, Asks: next.Asks}
	}
}

// inherit keeps what a call said before and leaves out now.
func inherit(c, old *ToolCall) {
	for _, p := range []struct {
		now *string
		was string
	}{{&c.Name, old.Name}, {&c.Description, old.Description}, {&c.DisplayName, old.DisplayName}, {&c.Kind, old.Kind}} {
		if *p.now == "" {
			*p.now = p.was
		}
	}
	if c.Input == "" {
		c.Input = old.Input
	}
	if c.Live == "" {
		c.Live = old.Live
	}
	if c.Confirmation == nil {
		c.Confirmation = old.Confirmation
	}
	if c.Status == ToolUnspecified {
		c.Status = old.Status
	}
}

// asks keeps the list of the calls that wait for an answer.
func (f *Fold) asks(c *call) {
	at := slices.IndexFunc(f.asked, func(o *call) bool { return o.ID == c.ID })
	switch open := c.Asks && !c.answered; {
	case open && at >= 0:
		f.asked[at] = c
	case open:
		f.asked = append(f.asked, c)
		f.Asked++
	case at >= 0:
		f.asked = slices.Delete(f.asked, at, at+1)
	}
}

// Open returns the calls that wait for the user, in the order in which they
// asked: their last event is pending approval, carries no outcome, and
// [Fold.Answered] has not been called for them.
func (f *Fold) Open() []*ToolCall {
	open := make([]*ToolCall, len(f.asked))
	for i, c := range f.asked {
		open[i] = c.ToolCall
	}
	return open
}

// Running reports whether a tool is at work.
func (f *Fold) Running() bool {
	for _, c := range f.calls {
		if c.Status == ToolExecuting {
			return true
		}
	}
	return false
}

// Answered notes that answers are on their way: these calls are open no more,
// even if the agent repeats their question.
func (f *Fold) Answered(answers []Answer) {
	for _, a := range answers {
		if c := f.calls[a.Call.ID]; c != nil {
			c.answered = true
			f.asks(c)
		}
	}
}

func (f *Fold) headSum(c *ToolCall) uint64 {
	return f.sum(c.Name, c.Description, c.DisplayName, c.Kind, string(c.Input))
}

func (f *Fold) contentSum(c *ToolCall) uint64 {
	values := []string{c.Live, string(c.Extra)}
	diff := func(d *FileDiff) {
		if d != nil {
			values = append(values, d.FilePath, d.NewContent, d.Formatted)
			if d.OldContent != nil {
				values = append(values, *d.OldContent)
			}
		}
	}
	if o := c.Output; o != nil {
		values = append(values, "output", o.Text, string(o.Data))
		diff(o.Diff)
	}
	if e := c.Error; e != nil {
		values = append(values, "error", e.Message, e.Type, strconv.Itoa(e.StatusCode))
	}
	if q := c.Confirmation; q != nil {
		values = append(values, "confirmation")
		diff(q.Edit)
		if q.Execute != nil {
			values = append(values, q.Execute.Command, q.Execute.WorkingDirectory)
		}
		if q.MCP != nil {
			values = append(values, q.MCP.ServerName, q.MCP.ToolName)
		}
		if q.Generic != nil {
			values = append(values, q.Generic.Description)
		}
		for _, o := range q.Options {
			values = append(values, o.ID, o.Name, o.Description)
		}
	}
	return f.sum(values...)
}

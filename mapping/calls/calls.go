// Package calls is the life of an agent's tool calls: which there are, what of them is new
// to the user, which run, and which ask.
//
// A call is known by its ID, within its task. What an event says of it is a mention:
// [ToolCall]. [Next] says what the call is after a mention; [Calls] keeps all of them. The
// rules have numbers. The figures beside them count sequences of up to four mentions and
// answers, as in the package's test: wrong of 15,106 with the rule off, and wrong of the
// 5,375 in which no state goes back but to ask.
//
//	C1   Status goes back only to ask.
//	C2   A call that has ended and asks is another call of that ID.
//	C3   So is one that has ended and begins in a later turn, or with another input.
//	C4   Output is whole each time.
//	C5   Of a task's history a mention that was heard is no news; the others come in order.
//	C7   A task that has ended asks nothing.
//	C8   The end of a turn ends what the agent has left without an end.
//	C9   What the bridge has ended goes on when the agent speaks of it again.
//	C10  Output of a call that nobody has mentioned is none of a call.
//	C11  If the agent waits and nothing is open, the newest mention that asks is asked.
//
// (C6 said what of a history is an earlier turn's: with C5 it is not needed.)
//
// The package is pure, and knows neither how an agent spells a call (a [Reader] does) nor
// how an editor is shown one.
package calls

import "strings"

// A Verb says how far a mention may be trusted to be new.
type Verb uint8

const (
	// Live is a mention on an unbroken stream.
	Live Verb = iota
	// Replayed is one that may have been heard. Then it is no news, and else as live.
	Replayed
	// Forward is one of an agent that says again what it has said with other IDs: it may
	// be old, and takes a call on, but never back.
	Forward
	// Hint is one in an event that only causes a look. As [Replayed], but it counts for calls that wait
	// for the user alone, who may allow what he has seen, and it takes no question back.
	Hint
)

// A Call is a tool call as it was shown last, with what is known of it beside.
type Call struct {
	*ToolCall
	Life
}

// Life is what became of a call. Its turns are the bridge's, counted from 0.
type Life struct {
	Turn      int  // in which the agent spoke of it last
	Questions int  // that it has asked
	Answered  bool // an answer to the newest is on its way
	Rejected  bool // and rejects
	Moved     bool // the agent has said since the newest question that it does not ask
	Closed    bool // it was the bridge that ended it
}

// Open reports whether the user is to be asked.
func (c *Call) Open() bool { return c.Asks && !c.Answered && !c.Status.Ended() }

// Next returns what a call, old, is after a mention, now, and what of it the user has not seen.
// old is nil for an ID that is new. A nil next: the mention says nothing new. another: it is
// another call of the same ID. now is changed: what it leaves out is filled in.
func Next(old *Call, now *ToolCall, v Verb, turn int) (next *Call, changed Change, another bool) {
	if old == nil || old.isAnother(now, v, turn) {
		next = &Call{ToolCall: now, Life: Life{Turn: turn}}
		if now.Asks {
			next.Questions = 1
		}
		return next, Head | State | Content, old != nil
	}
	now.inherit(old.ToolCall, v)
	if old.isOlder(now, v) {
		return nil, 0, false
	}
	next = &Call{ToolCall: now, Life: old.Life}
	if v != Forward {
		next.Turn = turn
	}
	// C9: what the bridge has ended, at the end of a turn or to bound what it keeps, was no
	// end of the agent's. Gemini's server goes on with calls of a turn that was cancelled.
	// Off: 932, 682.
	if next.Closed = false; old.Closed && v != Forward {
		next.Answered, next.Rejected = false, false
	}
	switch {
	case now.Asks && old.asksAnew(now, v):
		next.Questions++
		next.Answered, next.Rejected, next.Moved = false, false, false
	case now.Asks && old.Moved && v == Forward: // an older mention of what was asked
		now.Asks, now.Status = false, old.Status
	case !now.Asks:
		next.Moved = next.Questions > 0
	}
	changed = old.changes(now)
	if changed == 0 && now.Asks == old.Asks && next.Questions == old.Questions {
		return nil, 0, false
	}
	return next, changed, false
}

// changes returns what of a call is shown otherwise after a mention. Of one that the agent has ended
// little is kept to compare; only that it has ended otherwise counts.
func (c *Call) changes(now *ToolCall) (changed Change) {
	changed = difference(c.ToolCall, now)
	if !c.Status.Ended() || c.Closed {
		return changed
	}
	if changed &= State; changed != 0 {
		changed |= Content
	}
	return changed
}

// isAnother reports whether a mention is of another call than the one that had its ID.
func (c *Call) isAnother(now *ToolCall, v Verb, turn int) bool {
	switch {
	case !c.Status.Ended() || c.Closed || v == Forward:
		return false
	case now.Asks && (now.QuestionID == "" || now.QuestionID != c.QuestionID): // rule: C2
		// C2, also in the same turn: agents that count calls in each run of a task ask
		// with an ID that has ended, and wait for the answer. The price: a question that
		// an unbroken stream repeats late is asked; no recording has one. Off: 2,120, 0.
		return true
	case (c.Turn < turn || v == Live && c.hasOtherInput(now)) && !now.Asks && now.Status != Unspecified && !now.Status.Ended(): // rule: C3
		// C3: the same without a question. Within a turn it is an echo, but for another input
		// on an unbroken stream, in a dialect that says an input once: ADK's code executions have
		// no IDs, and the dialect gives them one. Off: 336, 190.
		return true
	}
	return false
}

// hasOtherInput reports whether a mention is surely of another input. A long one is not kept.
func (c *Call) hasOtherInput(now *ToolCall) bool {
	return now.Differences && c.Input != "" && now.Input != "" && digest(c.Input) != digest(now.Input)
}

// isOlder reports whether a mention is older than what was shown of its call.
func (c *Call) isOlder(now *ToolCall, v Verb) bool {
	back := now.Status.rank() < c.Status.rank()
	switch {
	case c.Closed: // rule: C9
		return back && !now.Asks && v == Forward
	case c.Status.Ended() && v == Forward:
		return true
	}
	// C1: what runs may ask, as for more rights than it was given; or the agent waits for
	// ever. Nothing else takes a call back. Off: 268, 204.
	return back && !(now.Asks && !c.Status.Ended() && v != Forward)
}

// asksAnew reports whether a mention that asks has another question than the newest one.
// C1: it asks for something else, or the agent has said since that it does not ask. The same
// again, behind the answer and with nothing between, is an echo.
func (c *Call) asksAnew(now *ToolCall, v Verb) bool { // rule: C1
	switch {
	case c.Questions == 0:
		return true
	case v != Forward && (c.Moved || c.Closed):
		return true
	case c.Confirmation == nil:
		return false // it is not kept what it asked
	}
	return !AsksTheSame(c.ToolCall, now)
}

// inherit fills in what a mention of a call leaves out. By the development-tool extension
// each event has the whole call (§3.2, ToolCall), so what it leaves out is gone, but for two
// things: the question, which an event has only while it is asked, and a missing state. In
// dialects whose agents send differences everything is filled in.
//
// C4: output is whole each time. Live the newest counts, also if it is shorter or empty: a
// pty redraws its screen (in 12 of the cuts of Gemini's recordings it is doubled otherwise).
// In what may be old a beginning of what was shown is no news. Off: 1,927, 378.
func (now *ToolCall) inherit(was *ToolCall, v Verb) {
	now.Shown = was.Shown
	if now.Status == Unspecified {
		now.Status = was.Status
	}
	if now.Confirmation == nil {
		now.Confirmation = was.Confirmation
	}
	if now.Differences {
		for _, p := range [...]struct {
			now *string
			was string
		}{{&now.Name, was.Name}, {&now.Description, was.Description}, {&now.DisplayName, was.DisplayName}, {&now.Kind, was.Kind},
			{(*string)(&now.Input), string(was.Input)}} {
			if *p.now == "" {
				*p.now = p.was
			}
		}
	}
	switch {
	case now.outputInResult: // its output so far is its result
	case now.OutputSoFar == "" && now.Differences:
		now.OutputSoFar, now.outputJSON = was.OutputSoFar, was.outputJSON
	case v == Forward && !now.Status.Ended() && strings.HasPrefix(was.OutputSoFar, now.OutputSoFar): // rule: C4
		now.OutputSoFar, now.outputJSON = was.OutputSoFar, was.outputJSON
	}
}

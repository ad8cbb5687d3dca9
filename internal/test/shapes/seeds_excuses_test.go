package shapes

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
)

// An Excuse forgives an answer of the judge: what would be wrong, but cannot be known.
type Excuse struct {
	Name, Reason string
	Classes      []string // none: all
	fits         func(v *view) bool
}

// excuses are all of them.
var excuses = []Excuse{
	{"before its task was known", "a message whose answer never came has no task that could be asked for: the error says so",
		[]string{"an error of nobody's", "a question is not asked", "a call's end is not shown", "the turn ends late", "cancelled, and the task goes on"},
		func(v *view) bool {
			return v.fault(agent.Lost, agent.Unsent, agent.Hang) || v.fault(agent.Cut, agent.End, agent.Stall) && v.turn.Faults[0].Events == 0
		}},
	{"an error in the conversation, or a cancel", "the loaded session says what became of the message, and the agent did not say all",
		[]string{"a loaded session does not show the conversation"},
		func(v *view) bool {
			return slices.ContainsFunc(v.world.Turns[:v.n], func(t *PlayedTurn) bool { return !t.Acted.IsZero() }) ||
				slices.ContainsFunc(v.world.Turns[:v.n+1], func(t *PlayedTurn) bool { return t.Err != "" })
		}},
	{"an answer that may not have come", "behind it the turn ends with an error, and the task is cancelled (leg.md, A3)",
		[]string{"an error of nobody's"}, func(v *view) bool { return v.fault(agent.Lost, agent.Unsent) && v.played.Later == agent.Canceled }},
	{"a prompt that may not have come", "a gap is told: a task without history that stands as before does not tell",
		[]string{"the turn ends before the agent's end"},
		func(v *view) bool {
			return v.fault(agent.Unsent) && v.gaps > 0 && v.plan.Script.History == agent.HistoryNone
		}},
	{"the task cannot be looked at", "tasks/get is missing or fails: an error, or a gap, says that the task may have gone on",
		[]string{"an error of nobody's", "a message is sent twice, or refused", "the turn ends late", "a call's end is not shown"}, func(v *view) bool { return v.blind() && v.troubled() }},
	{"nobody can see what waits", "without tasks/get and a subscription only the user's patience ends it",
		[]string{"the turn does not end", "the turn ends late", "a question is not asked", "a question waits, and the turn ends", "the turn ends before the agent's end"},
		func(v *view) bool { return v.blind() && v.troubled() }},
	{"the agent does not keep what it says", "its task has no history, so each cut is a gap; so it looks where a turn has no words",
		[]string{"a gap is told where nothing is missing", "a gap is told twice"},
		func(v *view) bool {
			return (v.plan.Script.History == agent.HistoryNone || v.blind() || v.want() == "") && v.troubled()
		}},
	{"a question that is not kept", "where the task has no history, a question behind which a state came cannot be seen behind a cut",
		[]string{"a question is not asked", "a call's end is not shown", "the turn does not end", "the turn ends late", "an error of nobody's",
			"a question waits, and the turn ends", "the turn ends before the agent's end", "a message is sent twice, or refused"},
		func(v *view) bool { return v.plan.Script.History == agent.HistoryNone && v.troubled() }},
	{"a thought that is not kept", "of a task without messages nobody can tell: a gap at each cut would be false 2,154 times in the shapes",
		[]string{"a thought is lost or doubled"},
		func(v *view) bool { return v.plan.Script.History == agent.HistoryNone && v.troubled() }},
	{"a question that is a leg's result", "behind it no request of A2A lines runs that could be cancelled, and another process may answer",
		[]string{"a question waits, and the turn ends", "the turn ends before the agent's end", "an error in the place of cancelled"},
		func(v *view) bool {
			return v.plan.Protocol == editor.Lines && (v.turn.Act.Kind == Leave || v.turn.Act.Kind == Cancel)
		}},
	{"a snapshot that is old", "its words and its questions come late; one of a wait that is over, behind a cut, is believed, since no agent is known that answers so",
		[]string{"a gap is told where nothing is missing", "the turn ends late", "a question waits, and the turn ends", "the turn ends before the agent's end",
			"the turn ends, and the task goes on", "a message is sent twice, or refused", "an error of nobody's", "the words are not the agent's",
			"a thought is lost or doubled", "a call's end is not shown", "a question is not asked", "the turn does not end", "a gap is told twice",
			"a loaded session does not show the conversation"},
		func(v *view) bool { return v.plan.Script.Get == agent.GetStale }},
	{"a task does not tell the order of messages and artifacts", "a text comes twice or in another order only where both are there",
		[]string{"the words are not the agent's"},
		func(v *view) bool {
			return v.faulty() && len(v.letters) == len(v.want()) && v.plan.Shape.Carrier == "artifact"
		}},
	{"one token, and then a text that has it again", "no rule can tell a whole, or what grows under new IDs behind it, from further tokens",
		[]string{"the words are not the agent's", "a loaded session does not show the conversation"},
		func(v *view) bool {
			f := v.plan.Shape
			return (f.Form == "pieces+whole" || f.Form == "cumulative" && f.IDs == "token") && slices.ContainsFunc(v.upTo(), func(t *Turn) bool {
				return slices.ContainsFunc(t.Texts, func(s string) bool { return len(Tokens(s, "words")) == 1 })
			})
		}},
	{"a text that begins with all of the one before it", "no rule can tell that from the one before, grown",
		[]string{"the words are not the agent's", "a loaded session does not show the conversation"},
		func(v *view) bool {
			begins := func(list []string) bool {
				for i, s := range list {
					if i > 0 && strings.HasPrefix(s, list[i-1]) {
						return true
					}
				}
				return false
			}
			inTokens := v.plan.Shape.IDs == "token" && v.troubled() // "谢" and "谢," behind a cut
			return slices.ContainsFunc(v.upTo(), func(t *Turn) bool {
				return begins(t.Texts) || inTokens && slices.ContainsFunc(t.Texts, func(s string) bool {
					return begins(slices.DeleteFunc(Tokens(s, "words"), func(s string) bool { return s[0] == ' ' }))
				})
			})
		}},
	{"an agent that does not cancel", "it was asked to, and the user was told that the task may still run",
		[]string{"cancelled, and the task goes on", "a cancel behind the turn does not reach its task"}, func(v *view) bool { return v.plan.Script.Cancel != agent.CancelTask }},
	{"a silent agent", "a stall, or a head that does not come, is waited for",
		[]string{"the turn ends late"}, func(v *view) bool { return v.fault(agent.Stall, agent.Hang) }},
	{"behind a fault of the turn before", "its task may still run, or wait, when the next prompt comes",
		nil, func(v *view) bool {
			return v.n > 0 && (len(v.plan.Turns[v.n-1].Faults) > 0 && v.world.Turns[v.n-1].Err != "" || len(v.world.Turns[v.n-1].Open) > 0)
		}},
}

// excuse finds what forgives a class, "" for nothing.
func (v *view) excuse(class string) string {
	for _, e := range excuses {
		if (len(e.Classes) == 0 || slices.Contains(e.Classes, class)) && e.fits(v) {
			return e.Name
		}
	}
	return ""
}

// upTo are the turns up to this one.
func (v *view) upTo() []*Turn { return v.plan.Turns[:v.n+1] }

// fault reports whether the turn has one of these.
func (v *view) fault(kinds ...agent.FaultKind) bool {
	return v.faulty() && slices.Contains(kinds, v.turn.Faults[0].Kind)
}

// troubled reports whether a look was needed.
func (v *view) troubled() bool { return v.faulty() || v.plan.Script.Tells != agent.TellAll }

func (v *view) blind() bool {
	return v.plan.Script.Get == agent.GetFails || v.plan.Script.Get == agent.GetMissing
}

// Package ask is the question that a tool call puts to the user: what is asked, in text that
// cannot hide anything; the choices, with what they mean and how far they reach; and what an
// "always" covers. It is pure, and knows no dialect: what one offers beside the agent's own
// choices is given to [NewQuestion].
package ask

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/calls"
)

// A Question is a tool call that waits for the user, with the choices that the
// user has.
type Question struct {
	Call *calls.ToolCall
	// Options are what the agent offers, the narrowest first and those that reject last,
	// and at least one that rejects. What allows more than the call is not offered where
	// what the call asks is too long to be shown whole.
	Options []Option

	takesContent bool // of the dialect: see [Question.TakesContent]
}

// An Option is one of the user's choices, with ACP's kind for it.
type Option struct {
	ID          string
	Name        string
	Description string
	// Kind is allow_once, allow_always, reject_once or reject_always. An option
	// whose meaning cannot be told has the kind allow_once.
	Kind string
	// Certain is set where the option's ID and name say what it means: see
	// [optionMeaning]. Nothing but the user picks an option that is not certain.
	Certain bool
	// CancelsTask is set for the rejection that the bridge adds where the agent
	// offers none. It cancels the task, and the agent is sent no option.
	CancelsTask bool
	// Remember is what the bridge allows from now on if the option is picked.
	// Only dialects in whose agents "always" does not work have such options:
	// the agent is sent Send in place of the option's ID.
	Remember *Scope
	Send     string

	// Width orders options of one kind by how far they reach.
	Width Width
}

// An Answer is the user's, or the bridge's, choice about a [Question].
type Answer struct {
	// Call is the [Question]'s. An editor need not set it where its answers are in the
	// order of the questions.
	Call *calls.ToolCall
	// OptionID is the agent's name for the choice, or, from an editor, the ID of the
	// option that was picked. An editor leaves it empty where the user has picked none.
	OptionID string
	// NewContent, if set, replaces what the agent proposed to write.
	NewContent *string
}

// rejectTaskID is the ID of the rejection that the bridge adds.
const rejectTaskID = "a2astdio-cancel-task"

// NewQuestion returns the question that a call asks. offered are choices that the agent does
// not name, but that its own editors offer: they come before those that it names. content:
// an answer may hold other content than the agent has proposed to write.
func NewQuestion(c *calls.ToolCall, offered []Option, content bool) Question {
	q := Question{Call: c, takesContent: content}
	if c.Confirmation == nil {
		return q
	}
	q.Options = offered
	places := map[string]int{"": -1} // of options by ID; one without cannot be picked
	for i, o := range offered {
		places[o.ID] = i
	}
	for _, o := range c.Confirmation.Options {
		switch at, known := places[o.ID]; {
		case !known:
			places[o.ID] = len(q.Options)
			q.Options = append(q.Options, NewOption(o))
		case at >= 0:
			q.Options[at].merge(NewOption(o))
		}
	}
	if Left(c) > 0 {
		q.Options = slices.DeleteFunc(q.Options, func(o Option) bool { return o.Allows() && o.rank() == rankAlways })
	}
	slices.SortStableFunc(q.Options, func(a, b Option) int { return cmp.Or(a.rank()-b.rank(), int(a.Width-b.Width)) })
	if !slices.ContainsFunc(q.Options, Option.rejects) {
		id := rejectTaskID
		for slices.ContainsFunc(q.Options, func(o Option) bool { return o.ID == id }) {
			id += "~"
		}
		q.Options = append(q.Options, Option{ID: id, Name: "Reject, and cancel the task", Kind: acp.OptionRejectOnce,
			Description: "The agent offers no way to reject this call alone.", Certain: true, CancelsTask: true})
	}
	return q
}

// NewOption returns an option as the agent offers it.
func NewOption(o calls.ConfirmationOption) Option {
	option := Option{ID: o.ID, Name: cmp.Or(strings.TrimSpace(o.Name), o.ID), Description: o.Description}
	option.Kind, option.Width, option.Certain = optionMeaning(o.ID, o.Name)
	option.applyDescription()
	if option.Kind == acp.OptionAllowAlways && readWords(option.Name).width < WidthSession {
		option.Name += " (always)" // which only its ID says
	}
	return option
}

// merge adds another option of the same ID. The agent cannot tell the two apart, so that
// they have a meaning only if both mean the same. The user sees what both allow; to what is too long
// to be shown whole nothing is added.
func (o *Option) merge(other Option) {
	differ := other.Kind != o.Kind || other.Certain != o.Certain
	if differ || other.Name != o.Name && o.Allows() {
		if o.Certain = false; len(o.Name) <= TitleMax {
			o.Name += " / " + other.Name
		}
	}
	if other.Description != o.Description && len(o.Description) <= askedMax {
		o.Description = strings.Trim(o.Description+" / "+other.Description, " /")
	}
	if differ {
		o.Kind = acp.OptionAllowOnce
	}
}

// StillAsked reports whether a call still asks what it asked in the question. If not,
// the answer does not count.
func (q *Question) StillAsked(now *calls.ToolCall) bool { return calls.AsksTheSame(q.Call, now) }

// The order of options: what allows this call, what may do so, what allows others too,
// what rejects this call, and others too.
const (
	rankOnce = iota
	rankUnclear
	rankAlways
	rankReject
	rankRejectAlways
)

func (o Option) rank() int {
	switch {
	case o.Kind == acp.OptionAllowAlways, o.Allows() && o.Width >= WidthSession:
		return rankAlways
	case o.Kind == acp.OptionRejectOnce && o.Certain:
		return rankReject
	case o.Kind == acp.OptionRejectAlways && o.Certain:
		return rankRejectAlways
	case o.Kind == acp.OptionAllowOnce && o.Certain:
		return rankOnce
	}
	return rankUnclear
}

// Pick returns the option of that ID; false if it is not offered.
func (q *Question) Pick(id string) (Option, bool) {
	return q.first(func(o Option) bool { return o.ID == id })
}

// AllowOnce returns the option that allows this call and nothing else, for a
// program to pick; false if no option is certain to mean that.
func (q *Question) AllowOnce() (Option, bool) { return q.firstCertain(acp.OptionAllowOnce) }

// AllowAlways returns the narrowest of the options that allow further calls too,
// for a user who has said so in advance; false if none is certain to mean that.
func (q *Question) AllowAlways() (Option, bool) { return q.firstCertain(acp.OptionAllowAlways) }

// Reject returns the option that rejects the call: only this call, if there is such an
// option. It is what a program picks where nobody has answered. There always is one for
// a question of [NewQuestion].
func (q *Question) Reject() Option {
	for _, kind := range [...]string{acp.OptionRejectOnce, acp.OptionRejectAlways} {
		if o, ok := q.firstCertain(kind); ok {
			return o
		}
	}
	return Option{ID: rejectTaskID, Kind: acp.OptionRejectOnce, Certain: true, CancelsTask: true}
}

// firstCertain returns the first, and so the narrowest, option of a kind whose meaning is certain; false
// if there is none.
func (q *Question) firstCertain(kind string) (Option, bool) {
	return q.first(func(o Option) bool { return o.Kind == kind && o.Certain })
}

// first returns the first option that is wanted; false if there is none.
func (q *Question) first(is func(Option) bool) (Option, bool) {
	if at := slices.IndexFunc(q.Options, is); at >= 0 {
		return q.Options[at], true
	}
	return Option{}, false
}

// rejects reports whether an option is certain to be a rejection.
func (o Option) rejects() bool {
	return o.Certain && (o.Kind == acp.OptionRejectOnce || o.Kind == acp.OptionRejectAlways)
}

// Allows reports whether picking the option may let the call run.
func (o Option) Allows() bool { return !o.rejects() }

// SentID is what the agent is told if the option is picked.
func (o Option) SentID() string { return cmp.Or(o.Send, o.ID) }

// TakesContent reports whether an answer may hold other content than the agent
// proposed to write: it asks about an edit and nothing else, in a dialect that has
// words for it.
func (q *Question) TakesContent() bool {
	c := q.Call.Confirmation
	return c != nil && c.Edit != nil && c.Kinds() == 1 && q.takesContent
}

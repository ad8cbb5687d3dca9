package mapping

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// An apart is a dialect whose agents put several things into one message or artifact:
// thoughts, calls, repeated text. It splits them into pieces, which the [Fold] shows.
type apart interface {
	dialect
	// knows reports whether an event is surely of such an agent: it looks for keys of
	// its own, never at a shape alone. It is asked of events that have sign in them.
	knows(ev *a2a.Event) bool
	// message and artifact split one into pieces; false: it is read by A2A's rules.
	message(m *a2a.Message, at *carrier, to *pieces) bool
	artifact(a *a2a.Artifact, at *carrier, to *pieces) bool
}

// A replier is a dialect in which an answer in the user's own words needs a form.
type replier interface {
	// reply adds the answer to an input that the agent waits for to a message.
	reply(in input, text string, m *a2a.Outgoing) error
}

// A carrier is what a message or an artifact came in.
type carrier struct {
	metadata a2a.JSON // the event's
	state    a2a.State
	// appends and last are of an artifact.
	appends, last bool
	// held: a snapshot has it. ends: it is the status message that ends the leg.
	held, ends bool
	// newest: it is the task's status message, and not one of its history.
	newest bool
	mem    *memory
}

// pieces are what a message or an artifact consists of, in order.
type pieces struct {
	list  []piece
	usage a2a.JSON
}

type pieceKind uint8

const (
	// pieceText is text as A2A has it: it follows, or replaces, as its carrier says.
	pieceText         pieceKind = iota
	pieceDelta                  // text that follows what was said, whatever its carrier says
	pieceWhole                  // text that was streamed, and is said again
	pieceThought                // a thought, or what follows one
	pieceWholeThought           // thoughts that may have been streamed
	pieceCall
	pieceOutput // what a call has put out, beyond what it had
	piecePart
	pieceInput // what the user answers in words
)

type piece struct {
	kind  pieceKind
	text  string
	call  ToolCall
	part  a2a.Part
	input input
}

// An input is what an agent waits for that the user answers in words.
type input struct {
	dialect  dialect
	task     string
	id, name string
	text     string // the bridge's, that asks
	// given is an answer that is known, and waits for the others.
	given *Answer
}

func (p *pieces) text(kind pieceKind, text string) {
	p.list = append(p.list, piece{kind: kind, text: text})
}

func (p *pieces) call(c ToolCall) { p.list = append(p.list, piece{kind: pieceCall, call: c}) }

func (p *pieces) output(id, text string) {
	p.list = append(p.list, piece{kind: pieceOutput, text: text, call: ToolCall{ID: id}})
}

func (p *pieces) part(part *a2a.Part) { p.list = append(p.list, piece{kind: piecePart, part: *part}) }

func (p *pieces) ask(in input) { p.list = append(p.list, piece{kind: pieceInput, input: in}) }

// memory is what a dialect has to remember of a task: the text since the last whole one.
type memory struct{ streamed []byte }

// quiet is a dialect that does nothing: others embed it, and write only the methods
// that they need.
type quiet struct{}

func (quiet) traits() Traits                                          { return Traits{} }
func (quiet) tells(*a2a.Card) bool                                    { return false }
func (quiet) settings(AgentSettings, string) (string, map[string]any) { return "", nil }
func (quiet) commands() commands                                      { return commands{} }
func (quiet) meta(a2a.JSON, *meta) bool                               { return false }
func (quiet) CallID(calls.Object) (string, bool)                      { return "", false }
func (quiet) Answered(calls.Object) (string, bool)                    { return "", false }
func (quiet) ToolCall(calls.Object, *ToolCall)                        {}
func (quiet) Repeats() string                                         { return "" }
func (quiet) OutputSoFar(*a2a.Artifact) (string, calls.Sent, bool)    { return "", calls.Sent{}, false }
func (quiet) Question(string, *ToolCall) bool                         { return false }
func (quiet) options(*ToolCall) []Option                              { return nil }
func (quiet) takesContent() bool                                      { return false }
func (quiet) extensions() []string                                    { return nil }
func (quiet) artifact(*a2a.Artifact, *carrier, *pieces) bool          { return false }

// answer: agents that ask nothing get no answer.
func (quiet) answer(Answer, *a2a.Outgoing) error { return nil }

// keysWith reports whether an object has a member whose name begins with prefix.
func keysWith(o a2a.JSON, prefix string) (found bool) {
	if !strings.Contains(string(o), prefix) {
		return false
	}
	gjson.Parse(string(o)).ForEach(func(k, _ gjson.Result) bool {
		found = strings.HasPrefix(k.Str, prefix)
		return !found
	})
	return found
}

// anyMetadata reports whether has is true of the metadata of the event, or of a
// message, an artifact or a part in it.
func anyMetadata(ev *a2a.Event, has func(a2a.JSON) bool) bool {
	parts := func(p a2a.Parts) bool {
		if p.FastPath().Bare {
			return false
		}
		for part := range p.All() {
			if has(part.Metadata) {
				return true
			}
		}
		return false
	}
	if has(ev.Metadata) || ev.HasMessage && (has(ev.Message.Metadata) || parts(ev.Message.Parts)) ||
		has(ev.Artifact.Metadata) || parts(ev.Artifact.Parts) {
		return true
	}
	if ev.Artifacts != nil {
		for a := range ev.Artifacts {
			if has(a.Metadata) || parts(a.Parts) {
				return true
			}
		}
	}
	if ev.History != nil {
		for m := range ev.History {
			if has(m.Metadata) || parts(m.Parts) {
				return true
			}
		}
	}
	return false
}

// addData adds an answer to a message, as a data part.
func addData(m *a2a.Outgoing, data any, metadata string) error {
	raw, err := rawjson.Marshal(data)
	p := a2a.OutPart{Data: raw}
	if metadata != "" {
		p.Metadata = json.RawMessage(metadata)
	}
	m.Parts = append(m.Parts, p)
	return err
}

// declares reports whether a card declares an extension whose URI begins with prefix.
func declares(card *a2a.Card, prefix string) bool {
	return slices.ContainsFunc(card.Extensions, func(e a2a.Extension) bool { return strings.HasPrefix(e.URI, prefix) })
}

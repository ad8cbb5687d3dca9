package dialect

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A dialect is a way in which agents put what A2A has no words for (tool calls,
// approvals, thoughts, settings) into A2A. Each is one file and one line in
// [dialects].
//
// A dialect reads events once the agent is known to speak it: by the card and --dialect
// ([Spoken.Speak]), or by the metadata of one event. That holds for the rest of the
// conversation, because a task's history has lost the events' metadata. Which one we
// write in is decided once, from the card (see [Settings]), except for answers: they go
// out in the dialect that asked.
type dialect interface {
	// A dialect whose agents put each tool call into a data part of its own, and its output
	// into an artifact, reads them so; the others split messages: see [splitter].
	calls.Reader
	// about is what is known of it without an event or a card.
	about() about
	// matchesCard reports whether a card is that of an agent that speaks the dialect, by anything
	// but the development-tool extension. Such agents get the dialect's settings with the first
	// message of a session.
	matchesCard(card *a2a.Card) bool
	// settings spells what the first message of a session tells the agent: the key of
	// the metadata, and its members; a key "": the dialect has no settings. uri is the
	// development-tool extension as the card spells it.
	settings(s AgentSettings, uri string) (key string, members map[string]any)
	// commands are the requests that list and run slash commands.
	commands() SlashCommands
	// readMeta reads an event's metadata into m, which is empty; false if it has nothing of this dialect.
	readMeta(metadata a2a.JSON, m *Meta) bool
	// options are choices that the agent does not name, but that its own editors offer.
	// They come before those that it names.
	options(c *calls.ToolCall) []ask.Option
	// extensions are URIs that it wants to be activated where a card has them, beside
	// those that [Negotiate] knows.
	extensions() []string
	// answer adds a user's answer to a question to a message.
	answer(a ask.Answer, m *a2a.Outgoing) error
	// reply adds the user's own words, which answer an input (see [PieceInput]), to a message.
	reply(in Input, text string, m *a2a.Outgoing) error
}

// about is what is known of a dialect without an event or a card.
type about struct {
	// name is the word for it on the command line.
	name string
	// sign is a word that metadata of this dialect has in its key: what lacks it is not
	// read. (Most agents send metadata of no dialect, with each event.)
	sign   string
	traits Traits
}

// A SideRequest is a request that a dialect has beside A2A's own.
type SideRequest struct {
	// Method is a JSON-RPC method; Path, where that is empty, a path below the agent's
	// URL, which is fetched, or posted to if there are Params.
	Method, Path string
	Params       any
}

// dialects lists them all, in the order in which they are tried. Journals name the one of a question by its place: no
// dialect that asks may be moved.
func dialects() []dialect {
	return []dialect{devtool{}, gemini{}, adk{}, codexNPM{}, mastra{}, hector{}, wrapper{}, inference{}, shared{}, redpanda{}, agentFramework{}, langgraph{}, iacCode{}}
}

// placeOf returns the place in that list of the dialect of a name, counted from 1 (see
// [calls.ToolCall.Dialect]); 0 if there is none.
func placeOf(name string) uint8 {
	return uint8(1 + slices.IndexFunc(dialects(), func(d dialect) bool { return d.about().name == name }))
}

// dialectAt returns the dialect at a place, counted from 1, or [base] for any other number.
func dialectAt(place uint8) dialect {
	if all := dialects(); 0 < place && int(place) <= len(all) {
		return all[place-1]
	}
	return base{}
}

// NewQuestion returns the question that a call asks, with the choices of its dialect.
func NewQuestion(c *calls.ToolCall) ask.Question {
	d := dialectAt(c.Dialect)
	var offered []ask.Option
	if c.Confirmation != nil {
		offered = d.options(c)
	}
	return ask.NewQuestion(c, offered, d.about().traits.TakesContent)
}

// Traits are how agents of a dialect differ from the specification, where the bridge
// must act otherwise. The zero value is the specification's.
type Traits struct {
	// HangUpStops: the agent stops what it does when the client ends its half of the
	// connection. tasks/cancel does more: it ends the task.
	HangUpStops bool
	// TaskIsConversation: what was said is lost with the task.
	TaskIsConversation bool
	// ContinuesCompleted: a task that is completed takes further messages.
	ContinuesCompleted bool
	// PartialHistory: the agent keeps some of what it says, and nothing tells how
	// much.
	PartialHistory bool
	// CallsOnStream: of its calls a task holds the newest word alone, so that none tells all that a cut has cost. What
	// follows an answer comes on the stream before it; the answer's own ends while the task works.
	CallsOnStream bool
	// Differences: a tool call's events leave out what has not changed.
	Differences bool
	// EndsAsking: a turn ends in the state input-required, also where nothing is asked.
	EndsAsking bool
	// AsksAgain: some of its agents do not take answers, and ask the same again, for
	// ever.
	AsksAgain bool
	// FinalEnds: final ends a turn also where the task works, which it does then for ever. Elsewhere it may work on.
	FinalEnds bool
	// Approvals: its agents ask the user before they act.
	Approvals bool
	// Chunks: status messages with IDs of their own are chunks of one text.
	Chunks bool
	// Grows: a status message with an ID of its own has all of a message so far.
	Grows bool
	// ServersInSettings: the settings that a task begins with have a place for MCP
	// servers.
	ServersInSettings bool
	// TakesContent: an answer may hold other content than the agent has proposed to write.
	TakesContent bool
	// AnsweredElsewhere: questions are answered by methods of the agent's own, which we do not have.
	AnsweredElsewhere bool
}

// Meta is what an event's metadata says beside the event.
type Meta struct {
	Said     bool // it has something of a dialect
	Model    string
	UserTier string
	// Err is an unexpected error in the agent, in its own words.
	Err   string
	Usage a2a.JSON
	// Call is one that waits, or does so no more, by the metadata of a state; with a name, any.
	Call *calls.ToolCall
	// Thinking is a piece of a thought.
	Thinking string
	// Others are the members that no dialect has read, as an object; "" if there is
	// none.
	Others a2a.JSON
	// Extended: some of them are under URIs, which are extensions.
	Extended bool

	kind    eventKind
	thought thought
	// other: the event is of another version of a dialect, whose schema we do not know.
	// Nothing in it is read by its shape.
	other bool
}

// An eventKind is what an event says it is, by its metadata.
type eventKind uint8

const (
	kindUnsaid eventKind = iota
	kindThought
	kindOther
)

// first returns the first of the members, by their paths, that is there and not null; else nothing.
// Field names come in snake_case and in lowerCamelCase.
func first(o gjson.Result, names ...string) gjson.Result {
	for _, n := range names {
		if r := o.Get(n); r.Exists() && r.Type != gjson.Null {
			return r
		}
	}
	return gjson.Result{}
}

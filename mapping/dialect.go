package mapping

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A dialect is a way in which agents put what A2A has no words for (tool calls,
// approvals, thoughts, settings) into A2A. Each is one file and one line in
// [dialects].
//
// Every dialect reads every event, by the shape of what it finds: a task
// snapshot has lost the events' metadata, and agents mix. Which one we write in
// is decided once, from the card (see [Settings]), except for answers: they go
// out in the dialect that asked.
type dialect interface {
	// name is the word for it on the command line.
	name() string
	// sign is a word that metadata of this dialect has in its key: what lacks it
	// is not read. (Most agents' metadata is nobody's, and comes with each event.)
	sign() string
	// meta reads an event's metadata; false if it has nothing of this dialect.
	meta(metadata a2a.JSON, m *meta) bool
	// callID names the tool call that the data part of a message is; false if it
	// is none of this dialect's.
	callID(data object) (id string, ok bool)
	// toolCall reads it into c, which is empty.
	toolCall(data object, c *ToolCall)
	// rides is the member that comes with each event of a call and is the same
	// each time, such as the tool's schema; "" if there is none.
	rides() string
	// liveOutput reads an artifact as the output so far of a running call; false
	// if it is an artifact like any other.
	liveOutput(a *a2a.Artifact) (callID string, live sentText, ok bool)
	// options are the choices that an agent leaves unsaid.
	options(c *ToolCall) []ConfirmationOption
	// answer spells a user's answer as a part of a message.
	answer(a Answer) (json.RawMessage, error)
}

// dialects lists them all, in the order in which they are tried.
func dialects() []dialect { return []dialect{devtool{}, gemini{}} }

// meta is what an event's metadata says beside the event.
type meta struct {
	said     bool // it is of some dialect
	kind     eventKind
	model    string
	userTier string
	// err is an unexpected error in the agent, in its own words.
	err   string
	usage a2a.JSON
	// uri is the key that the metadata was found under.
	uri string
}

// eventKind is what an event says it is.
type eventKind uint8

const (
	kindUnsaid eventKind = iota
	kindConfirmation
	kindUpdate
	kindText
	kindState
	kindThought
)

// thought reads a data part as a thought. Both dialects that have thoughts spell
// them alike, so an event's kind decides, or, in a snapshot, that there is
// nothing else in it.
func thought(data gjson.Result, kind eventKind) (subject, description string, ok bool) {
	if kind != kindThought && kind != kindUnsaid {
		return "", "", false
	}
	members := 0
	data.ForEach(func(k, v gjson.Result) bool {
		members++
		switch {
		case k.Str == "subject" && v.Type == gjson.String:
			subject, ok = v.Str, true
		case k.Str == "description" && v.Type == gjson.String:
			description, ok = v.Str, true
		}
		return true
	})
	if kind == kindUnsaid && (members != 2 || subject == "" && description == "") {
		return "", "", false
	}
	return subject, description, ok
}

// first returns the first of the members that is there and not null: field
// names come in snake_case and in lowerCamelCase.
func first(o gjson.Result, names ...string) gjson.Result {
	for _, n := range names {
		if r := o.Get(n); r.Exists() && r.Type != gjson.Null {
			return r
		}
	}
	return gjson.Result{}
}

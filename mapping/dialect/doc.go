// Package dialect is how families of agents put into A2A what it has no words for: tool calls,
// approvals, thoughts, settings, slash commands. It is pure, and knows neither what was shown
// nor an editor.
//
// What an agent says goes through [Spoken], of which a fold has one for a conversation: it tells
// which dialects the agent speaks, reads the metadata of events, and splits messages. What is
// written to an agent goes through a [Writing], which [Settings] chooses by the card. A question
// of a call, and its answer, are in the dialect that the call came in ([NewQuestion],
// [Writing.Answers]).
//
// A dialect is a type that embeds base, and an element of dialects (dialect.go, which explains
// each of its methods). No other file names it, but for devtool, whose URI the card spells.
package dialect

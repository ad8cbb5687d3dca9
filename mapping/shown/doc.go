// Package shown decides what of the things that an agent says is new to the user.
//
// An item is a message, an artifact or a thought: (task, kind, ID), a sequence of parts.
// It comes by one of three verbs:
//
//	live      on the unbroken stream of the newest request. [Shown.Live]; the history and
//	          the artifacts of a task that comes there are [Shown.State].
//	snapshot  in the task as it was asked for, or as a subscription begins with it. New is
//	          what an item has beyond what was shown: [Shown.Snapshot].
//	replayed  behind a cut at an agent whose task cannot be asked for, or does not hold what
//	          was said. All of it is new, as live, behind a gap; of calls, what was
//	          heard before is no news.
//
// A2A gives no position in a stream. So behind a cut the task is taken whole, and where
// that does not tell what is missing a gap is said.
//
// Nothing marks a repetition on the wire, so rules decide. L1 to L11 are about what comes
// live, S1 to S8 about snapshots. Each is named where it is held, with its cost: how many of
// 13,312 turns (832 shapes of agents, four sentences in four languages, four turns each) are
// shown wrong without it. A line that ends in "rule: NAME" is the condition that holds it.
// "Chosen", at the end of this comment, lists what no rule decides.
//
// A repetition is a property of a step: views for people leave such steps out, records have
// them. What is not shown at all is what the editor has already, byte for byte.
//
// # Chosen
//
// An answer of one token that is said again as a whole ("Yes." "Yes."), and does not end the task,
// is shown twice. A second piece that begins with all of the first is its growth
// ("a " "a b"); an equal one of eight bytes or more is a repetition, and so is a token that equals
// all pieces before it under another ID ("ha" "ha" "haha"). The last token again, under the ID of
// the others, in a task event that brings the end is the status message that stayed.
// Texts that take each other's place in an artifact without a name are its pieces if a space stands
// between ("10 " "20 "), or short Chinese words meet. A first word in two tokens is two there
// ("Def" "initely"). Cumulative artifacts that have a new ID each are shown each. Histories whose
// IDs are new at each writing are a gap behind a cut in a stream of tokens.
package shown

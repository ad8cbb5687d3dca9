// Package shown decides what of the things that an agent says is new to the user.
//
// An item is a message, an artifact or a thought: (task, kind, ID), a sequence of parts. It
// comes by one of four verbs:
//
//	live      on the unbroken stream of the newest request. [Shown.Live]; the history and
//	          the artifacts of a task that comes there are [Shown.State].
//	snapshot  in the task as it was asked for, or as a subscription begins with it. New is
//	          what an item has beyond what was shown: [Shown.Snapshot].
//	replayed  behind a cut at an agent whose task cannot be asked for, or does not hold what
//	          was said. All of it is new, as live, behind a gap; of calls, what was
//	          heard before is no news.
//	glance    as a snapshot, while the stream is open, which brings the words: of the task
//	          count its state and its calls alone.
//
// A2A gives no position in a stream. So behind a cut the task is taken whole, and where
// that does not tell what is missing a gap is said.
//
// Nothing marks a repetition on the wire, so rules decide. L is for what comes live, S for snapshots:
//
//	L1   What does not begin with what was shown of its ID is a piece of it; an artifact replaces.
//	L2   A short text at once again, under the ID of a message, is a piece.
//	L3   An update is compared with what its own turn has shown.
//	L4   Of a task that comes live only the status message is news.
//	L5   The newest piece again, in a task with another state or with an artifact, is no news.
//	L6   A text that equals what was said in pieces, or is long enough, says that again.
//	L7   A new ID that begins with all of the message being shown is its growth.
//	L8   A state ends a message if the task waits, or waited.
//	L9   A text that is not said as a whole repeats only what it is all of.
//	L10  A dialect may know that an item is a piece, or a whole.
//	L11  An item is the sequence of its parts.
//	S1   A task's messages have their places in what was shown: in its order, each once.
//	S2   A task's messages of one ID are one.
//	S3   Complete is not final: the next snapshot is weighed again.
//	S4   Complete is what holds our message and each item that was shown, none shorter.
//	S5   What a whole has said again need not be there: it is superseded.
//	S6   What an artifact goes on with may have been said last, in pieces that its task lacks.
//	S7   A task does not tell whether its messages or its artifacts came first.
//	S8   A task of an agent that keeps a part of what it says is never complete.
//	S9   What has replaced an artifact is shown anew, once its task is over, with a gap told.
//
// Each is named where it is held, with its cost: how many of 13,312 turns (832 shapes of agents,
// four sentences in four languages, four turns each) are shown wrong without it. A line that ends
// in "rule: NAME" is the condition that holds it; what one family of agents needs has a name alone. "Chosen" lists what
// no rule decides.
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

package shown

import "github.com/a2astdio/a2astdio/transport/a2a"

// Verb says how an event has come: see the package comment.
type Verb uint8

// The verbs.
const (
	Live Verb = iota
	Snapshot
	Replayed
	Glance
)

// OfTask reports whether a task came so, as it was asked for.
func (v Verb) OfTask() bool { return v == Snapshot || v == Glance }

// Kind says what an item is. User is a message of the user's own, which is not shown. Foreign
// is no item: something that the caller does where it stands in a list.
type Kind uint8

// The kinds.
const (
	Message Kind = iota
	Artifact
	Thought
	User
	Foreign
)

// Hint is what a dialect knows of an item and nobody can see (L10).
type Hint uint8

// The hints. A Piece follows what was said of its item, whatever its carrier says; a Whole
// has been said in pieces before, or is all there is.
const (
	Unknown Hint = iota
	Piece
	Whole
)

// Role is what a message is in its task.
type Role uint8

// The roles. Status: it is the status message of the task. End: so it is, and ends the leg: the task is over,
// or waits for the user.
const (
	Said Role = iota
	Status
	End
)

// An Item is what an event says of one. Its strings are needed during the call alone.
type Item struct {
	Kind Kind
	ID   string
	// Parts are its parts; an item is the sequence of them (L11). A part that is no text is one
	// opaque symbol.
	Parts a2a.Parts
	Role  Role // a message's
	// Name, Append and Last are an artifact's.
	Name         string
	Append, Last bool

	Hint Hint
	Of   Kind   // what a thought came in
	Do   func() // that of kind Foreign

	seq    string // its parts as one string: see Shown.sequence
	pieces int    // of how many of its ID it was made (Item.join), if of more than one
	as     saidAs
	reused bool // in a state: a message before ours has its ID, too
}

// saidAs is how an item's text is said: as a part of it, or as a whole, since it ends the leg (a last state,
// or a question), is in a task, or its last chunk does not append; or as a second whole, in a state
// (markSecond).
type saidAs uint8

const (
	inPart saidAs = iota
	asWhole
	asSecond
)

// Op says what a step does.
type Op uint8

// The steps. Grow: the text, or the part, follows what was shown of the item. Further: so does
// a further part, and not the rest of the one before. Begin: nothing was shown of it. Replace:
// what was shown of it is not its beginning any more. Gap: something may be missing here.
const (
	Grow Op = iota
	Further
	Begin
	Replace
	Gap
)

// Follows reports whether what a step shows goes on with what was shown of the item.
func (o Op) Follows() bool { return o == Grow || o == Further }

// A Step is one thing to show. It is the receiver's during the call alone, but for its strings.
type Step struct {
	Op   Op
	Kind Kind
	ID   string
	// Name is that of the message that the editor shows it in: unique in the conversation.
	Name string
	// Part is what is shown, or the part whose Text is new, which may be its end. nil, where it is restored: Text is all.
	Part *a2a.Part
	Text string
	// Repeats: it was shown before. Records have it, views leave it out.
	Repeats bool
}

package shown

import (
	"hash/maphash"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Traits are how an agent or an editor differs from what the rules are for.
type Traits struct {
	// Partial: the agent holds part of what it says, and nothing tells which: no snapshot of it is
	// complete (S8). Gemini's server keeps each message's first chunk; cut behind a thought its task
	// holds all that was shown, and not the text (69 of 281 cuts).
	Partial bool
	// InPlace: the editor can change a message that it has shown. Then a task that was asked
	// for corrects what was shown of an item, where it would only tell that something is
	// missing, and has it grow where it stands.
	InPlace bool
}

// A Shown knows what the editor of one conversation was shown. It is not safe for concurrent
// use.
type Shown struct {
	Traits
	show  func(*Step)
	seed  maphash.Seed
	names map[uint64]int   // those that were given out: see TakeName
	items map[uint64]*item // by hashKey: of many, the map is most
	task  string           // of the items that come next

	turn         int  // its number
	prompt, sent ours // of our messages of this turn the first, and the newest: that, or an answer
	said         said // what this turn has shown
	last         *run // that the newest text is in; nil: no text can go on there, since there is none, or a whole has ended it
	restated     int  // where in said the text begins that a whole has said again last; then last is nil
	// epoch grows with all that stands between texts for a reader: a call, another task or
	// turn. pauses grows when the task begins or ends to wait.
	epoch, pauses int
	state         a2a.State // the newest of this turn, or of the newest snapshot
	gap           gap
	naming        naming
	chains        []chain // messages of this turn, the one that spoke last first
	// inHand is the state that the event in hand has, or the status message of a snapshot. anew: it is a task
	// in another state, or with something else that is new.
	inHand a2a.State
	anew   bool
	held   *held // the state in hand, nil while none is
	states int   // tasks that were shown so far, asked for or live (held)
	// growing is the item whose text the last n bytes of said are, which are not in its hashes.
	// (Rejected: a hash that grows with each chunk. It took a twelfth of a stream's CPU.)
	growing *item
	n       int
	doubted int // how often the newest text came again, and was taken for a repetition: see [Shown.isDoubtful]
	// skips: the repetition that [Shown.Restore] reads is of an item that is known.
	skips bool
	step  Step     // the next one to show; its Op is Grow between items
	part  a2a.Part // that of the step
}

// New returns a Shown for a conversation of which nothing was shown. show is called for each
// step in its order, and may keep nothing of it but its strings.
func New(show func(*Step)) *Shown {
	return &Shown{show: show, seed: maphash.MakeSeed(), items: map[uint64]*item{}, names: map[uint64]int{}}
}

// Begin begins a turn: its text, our messages, its state and its gap are none yet. It forgets
// what was said outside of a task, which belongs to the request before, and of many items those
// that are older than the turn before.
func (s *Shown) Begin() {
	s.prompt = ours{}
	s.Sent("", "")
	s.turn++
	s.epoch++
	s.chains = nil
	s.LetGo()
	s.gap, s.state = none, ""
	if s.naming == messages {
		s.naming = anyText
	}
	for k, it := range s.items {
		if it.task == "" || len(s.items) > maxItems/2 && it.turn < s.turn-1 {
			delete(s.items, k)
		}
	}
}

// Task says which task the next items are of, "" for none. Another task's text is another
// message.
func (s *Shown) Task(id string) {
	if id != s.task {
		s.task = strings.Clone(id)
		s.epoch++
	}
}

// IsNew reports whether an item of the task in hand says something, and was not shown before.
func (s *Shown) IsNew(in *Item) bool {
	it := s.find(in)
	return (it == nil || it.n == 0) && s.sequence(in.Parts) != ""
}

// Break notes that something else was shown, such as a call: text behind it is another message.
func (s *Shown) Break() { s.epoch++ }

// SetState notes the state that the event in hand brings, "" for none. It is called at each
// event, before its items. task: the event is a task. news: it has something else that is new.
//
// A state ends a message if the task waited, or if it waits or is over now and the text does not go
// on for certain (L8): the last chunk of a message comes with completed. 900 turns with broken
// words. So it does if it was canceled: a2a-js says so between the words of a stream that goes on.
func (s *Shown) SetState(state a2a.State, task, news bool) {
	was := s.state
	s.anew = task && (news || state.Terminal() || state != "" && state != was && was != "")
	if s.inHand = ""; state == "" {
		return
	}
	if state != was && (was.Waits() || was == a2a.StateCanceled) { // rule: L8
		s.pauses++
	}
	if state != was {
		s.state = a2a.State(strings.Clone(string(state)))
	}
	s.inHand = s.state
}

// LetGo forgets the turn's text, where nobody follows its task any more: while the user thinks
// it would cost half a megabyte. The items stay known, but a copy under another ID is shown
// again.
func (s *Shown) LetGo() {
	s.settle()
	s.said.letGo()
	s.last = nil
}

// Live shows what an item adds to what was shown, and as a repetition what it says again; of one
// without content, nothing. It is not for kind Foreign.
func (s *Shown) Live(in *Item) {
	s.limit()
	if in.seq = s.sequence(in.Parts); in.seq == "" {
		return
	}
	if in.as = inPart; in.Role == End || in.Hint == Whole || in.Last && !in.Append && in.Hint != Piece {
		in.as = asWhole
	}
	it := s.find(in)
	switch {
	case in.Append && in.Kind == Artifact, in.Hint == Piece:
		s.livePiece(it, in)
	case it != nil && it.n > 0 && (it.turn == s.turn || s.goesOnOver(it, in.seq)):
		s.update(it, in)
	default:
		s.liveNew(in)
	}
}

// liveNew shows an item that this turn has not said under its ID.
func (s *Shown) liveNew(in *Item) {
	it, grows := s.another(s.key(in)), s.naming == growing && in.Kind == Message
	if grows && s.showGrown(it, in) {
		return
	}
	if !s.showRepeat(it, in) && (in.Kind == Artifact || grows || !s.showGrowth(it, in)) {
		s.say(it, in, 0)
	}
	if grows {
		s.beginChain(it)
	}
}

// livePiece shows what is known to follow what was said of an item, nil for nothing: it is never compared with
// that (L1, L10), but where it is said to be a whole, or the last.
func (s *Shown) livePiece(it *item, in *Item) {
	if it == nil || it.life == dead {
		it = s.another(s.key(in))
	}
	it.hint = in.Hint
	switch {
	case s.isWholeThought(it, in):
		s.repeat(it, in, len(in.seq), Begin)
	case (in.as != inPart || in.Last && s.isStripped(it, in)) && s.showRepeat(it, in):
	default:
		s.say(it, in, 0)
	}
}

// goesOnOver reports whether an item, which is not short, says all of itself again, and more:
// so one of an earlier turn goes on. Else an update is compared with its own turn (L3: agents
// with one ID for ever; 744 turns, 324 with words lost).
func (s *Shown) goesOnOver(it *item, seq string) bool {
	rest, begins := s.rest(it, seq)
	return begins && rest != "" && it.n >= evidence
}

// update shows what an event says of an item that this turn has shown, or that goes on
// (goesOnOver): as a repetition, its growth, its next piece, or, of an artifact, in its place.
func (s *Shown) update(it *item, in *Item) {
	if s.anew && in.Kind == Message && s.isNewest(it, in.seq) { // rule: L5
		// The newest piece again, with another state or with an artifact, is no news: 486 turns
		// of agents that send tasks, whose status message stays.
		s.repeat(it, in, len(in.seq), Begin)
		return
	}
	rest, begins := s.rest(it, in.seq)
	switch {
	case begins && rest != "":
		s.say(it, in, len(in.seq)-len(rest))
	case begins && (in.as != inPart || !s.isTwice(it, in.seq)):
		s.repeat(it, in, len(in.seq), Begin)
		if s.isDoubtful(it, in.seq) {
			s.doubted++
		}
	case in.Kind != Artifact: // rule: L1
		// Deltas under one ID are common. Only an artifact replaces. 460 turns.
		if in.as != inPart && s.showRepeat(it, in) {
			return
		}
		if it.life == dead { // S5: what comes behind the whole of a message is another text
			it = s.another(it.key)
		}
		s.sayPiece(it, in)
	case s.showRepeat(it, in):
	case s.isPiece(it, in):
		it.form = inPlace
		s.sayPiece(it, in)
	default:
		s.replace(it, in)
	}
}

// replace shows a text in place of all that was shown of an item, whose key names another then, which it returns.
func (s *Shown) replace(it *item, in *Item) *item {
	it = s.another(it.key)
	s.step.Op = Replace
	s.say(it, in, 0)
	s.step.Op = Grow
	return it
}

// say shows an item's text from an offset on as new, behind all others, unless that is empty.
// It settles the item's run, and says a gap first that is owed, unless a snapshot is in hand.
func (s *Shown) say(it *item, in *Item, from int) {
	text := in.seq[from:]
	if text == "" {
		return
	}
	if s.gap == owed && !s.held.askedFor() {
		s.sayGap()
	}
	if s.last != nil && (s.last.kind == Thought) != (it.kind == Thought) {
		s.epoch++
	}
	if it.of = in.Of; in.Append || in.Last {
		it.form = marked
	}
	s.enter(it, text, in)
	s.step.Name = it.run.name
	if it.n == 0 && s.step.Op == Grow {
		s.step.Op = Begin
	}
	s.note(it, text, max(1, in.pieces)) // a history has each piece: 21 of 3,216 cut turns
	s.emit(it, in, from, len(in.seq))
}

// note keeps that an item, which has a run, has said text behind all others, in so many pieces.
func (s *Shown) note(it *item, text string, pieces int) {
	if s.growing != it {
		s.settle()
		s.growing = it
	}
	s.said.add(it, text, s.epoch, pieces)
	s.n += len(text)
	it.n += len(text)
	it.turn, it.epoch, s.doubted = s.turn, s.epoch, 0
	if it.events++; it.events > 1 && it.kind == Message && it.run.growth != cumulative && s.naming == anyText {
		s.naming = messages
	}
}

// repeat shows that the first n bytes of what an event says of an item were shown before, and
// notes nothing. op is Grow where these follow what the item had.
func (s *Shown) repeat(it *item, in *Item, n int, op Op) {
	s.step.Op, s.step.Repeats, s.step.Name = op, true, ""
	if it.run != nil {
		s.step.Name = it.run.name
	}
	s.emit(it, in, 0, n)
	s.step.Repeats = false
}

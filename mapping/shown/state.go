package shown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// held is a state in hand: a task with its history and artifacts.
type held struct {
	verb     Verb              // Snapshot, or Live: the zero value, of Shown.State
	was      a2a.State         // what the turn knew of the task before
	sameIDs  [Foreign + 1]bool // by kind: it names one of its items as this turn's stream did
	list     []Item
	unmarked []Item // list, until markSecond has looked at it
	prior    *Item  // the one before the item in hand; nil: none is
	from     int    // where in said ends what was said before it came
	before   int    // where in said ends what its messages may have a place in
	cursor   int    // and where their next place may begin
}

// askedFor reports whether a task is in hand, and was asked for: see [Shown.Snapshot].
func (h *held) askedFor() bool { return h != nil && h.verb == Snapshot }

// State shows what the history and the artifacts of a task that comes live have beyond what was
// shown. They are no news but where an item was said nowhere else (L4: 2,478 turns). The list
// is in the task's order, without its status message. What stands before our newest message is
// left out.
func (s *Shown) State(list []Item) {
	s.limit()
	s.showHeld(&held{before: len(s.said.text)}, s.entries(list, &s.sent))
}

// ShowStaying shows a message as a repetition that was shown before the user's answer; false, with
// nothing shown: it was not, or is so short that it may be the next token of a text.
func (s *Shown) ShowStaying(in *Item) bool {
	seq, it := s.sequence(in.Parts), s.find(in)
	if it == nil || weight(seq) < evidence {
		return false
	}
	s.repeat(it, in, len(seq), Begin)
	return true
}

// Snapshot shows what a task that was asked for holds beyond what was shown, notes its state,
// and weighs whether it is complete (S4). gap: the caller is to say a gap before what this call
// has shown. If it has shown nothing, a gap stays owed.
//
// The list is in the order to show: history, artifacts, status message, but for one that
// neither ends the task nor asks, which comes before the artifacts (S7). Within the call the
// artifact goes first that was being said when the stream was cut.
func (s *Shown) Snapshot(state a2a.State, list []Item) (gap bool) {
	s.limit()
	h := &held{verb: Snapshot, was: s.state, from: len(s.said.text), before: len(s.said.text)}
	s.state, s.inHand, s.anew = a2a.State(strings.Clone(string(state))), "", false
	textMissing := s.showHeld(h, s.entries(list, &s.prompt))
	return s.gap != none && s.weighGap(h, list, textMissing)
}

// entries are what counts of a task's list: not the user's messages, nor what stands before ours,
// calls too, but for artifacts and the status message. Messages of one ID are one. In a task that was
// asked for, ours is the message that has begun the turn: agents keep the whole conversation. In one
// that comes live it is the newest: what was said before an answer does not belong behind that.
func (s *Shown) entries(list []Item, our *ours) []Item {
	from, doubled := our.behind(list), s.isDoubled(list)
	kept := make([]Item, 0, len(list)-from)
	at, before := map[string]int{}, map[string]bool{} // before: ours
	for i := range list {
		in := list[i]
		if in.Kind == User || i < from && in.Kind != Artifact && in.Role == Said {
			before[in.ID] = before[in.ID] || in.Kind == Message
			continue
		}
		in.seq, in.as = s.sequence(in.Parts), asWhole
		if in.Kind == Message {
			if before[in.ID] { // iac-code has one for all turns of a task: an answer like an earlier one was lost behind a cut
				in.as, in.reused = asSecond, true
			}
			if k, known := at[in.ID]; known {
				if !doubled || in.Role != Said || in.seq != kept[k].seq {
					kept[k].join(&in) // rule: S2
				}
				continue
			}
			at[in.ID] = len(kept)
		}
		kept = append(kept, in)
	}
	return kept
}

// isDoubled reports whether a list has messages of two IDs or more twice each, alike and in a row, and none in
// pieces otherwise: so a2a-python 0.3 has those that come while a stream that was cut and a subscription are open.
// Else tokens that are short would be pieces of one ID.
func (s *Shown) isDoubled(list []Item) bool { // rule: isDoubled
	n, again := 0, false
	for i := 1; i < len(list); i++ {
		was, in := &list[i-1], &list[i]
		wasAgain := again
		again = (in.Kind == Message || in.Kind == User) && in.Kind == was.Kind && in.ID == was.ID && in.Role == was.Role
		if again && (wasAgain || s.sequence(in.Parts) != s.sequence(was.Parts)) {
			return false
		}
		if again {
			n++
		}
	}
	return n > 1
}

// join adds a message of the same ID to an entry: in its place, if it begins with all of that
// or is the same text, else as its next piece (S2: 4,440 false gaps). The status message comes
// last.
func (e *Item) join(in *Item) {
	if in.Role != Said {
		e.Role = in.Role
	}
	n := len(e.seq)
	switch {
	case in.Role != Said && in.seq == e.seq:
	case len(in.seq) > n && in.seq[:n] == e.seq, in.seq == e.seq && n >= short:
		e.Parts, e.pieces, e.seq = in.Parts, 0, in.seq
	default:
		var both a2a.Parts
		pieces := []a2a.Parts{e.Parts, in.Parts}
		if e.pieces > 0 { // its list was made here: a copy for each piece would cost the square of them
			both, pieces = e.Parts, pieces[1:]
		}
		for _, parts := range pieces {
			for p := range parts.All() {
				both.FastPath().List = append(both.FastPath().List, *p)
			}
		}
		e.Parts, e.pieces, e.seq = both, max(1, e.pieces)+1, e.seq+in.seq
	}
}

// showHeld shows what the entries of a state have beyond what was shown. Meanwhile the state is
// in hand. textMissing: see heldItem.
func (s *Shown) showHeld(h *held, list []Item) (textMissing bool) {
	s.states++
	h.list, h.unmarked, s.held = list, list, h
	defer func() { s.held = nil }()
	for i := range list {
		e := &list[i]
		if it := s.find(e); it != nil && it.turn == s.turn && it.n > 0 && e.seq != "" {
			h.sameIDs[e.Kind], it.heldIn = true, s.states
		}
	}
	newest := -1 // the artifact that was said when the stream was cut goes on first
	if last := s.said.last(); last != nil && h.askedFor() {
		newest = slices.IndexFunc(list, func(e Item) bool {
			return e.Kind == Artifact && last.key == key{s.task, Artifact, e.ID}
		})
	}
	if newest >= 0 {
		textMissing = s.heldItem(&list[newest])
		h.before = len(s.said.text) // a message may say all of it again
	}
	for i := range list {
		s.limit()
		e := &list[i]
		if e.Kind == Foreign {
			e.Do()
			continue
		}
		if i != newest {
			textMissing = s.heldItem(e) || textMissing
		}
		h.prior = e
	}
	return textMissing
}

// heldItem shows what an item of a state has beyond what was shown, and notes that the state
// holds it (item.heldIn). textMissing: a task that was asked for does not hold all that was shown of it;
// that it has said another text under its ID counts, too.
func (s *Shown) heldItem(in *Item) (textMissing bool) {
	if in.seq == "" {
		return false
	}
	if in.Role != Said {
		s.inHand = s.state // which comes with it, as live
	}
	if it := s.find(in); it != nil && it.n > 0 {
		rest, begins := s.rest(it, in.seq)
		if it.turn == s.turn || s.stands(it, in, rest, begins) {
			it.heldIn = s.states
			return s.heldKnown(it, in, rest, begins)
		}
	} else if it := s.heldChain(in); it != nil {
		it.heldIn = s.states
		rest, begins := s.rest(it, in.seq)
		return s.heldKnown(it, in, rest, begins)
	}
	it := s.another(s.key(in))
	it.heldIn = s.states
	s.held.markSecond()
	switch {
	case in.Kind == Message && s.held.before > 0 && s.showAtCursor(it, in):
	case in.Kind == Message && (s.held.before == 0 || s.held.sameIDs[Message] || in.as == asSecond):
		// The history names the stream's messages: what it names otherwise, and is not at its place, is new (S1).
		s.heldNew(it, in)
	default:
		s.heldOther(it, in)
	}
	return false
}

// stands reports whether an item of an earlier turn is in a state as it was, or goes on. It may stand there also behind
// our own message: a2a-go and a2a-js put a question into the history when its answer has come. A short text that is
// longer now is another: "Yes." and "Yes, at nine.", and so is what a task asks that has worked since.
func (s *Shown) stands(it *item, in *Item, rest string, begins bool) bool {
	asks := in.Role != Said && s.state.Waits() && s.held.was != "" && !s.held.was.Waits()
	return begins && !asks && !in.reused && (it.n >= evidence || rest == "")
}

// heldOther shows an item of which neither ID nor place tells: as a repetition, growth, or new.
func (s *Shown) heldOther(it *item, in *Item) {
	switch {
	case s.held.joinsPieces(in):
		s.sayRest(it, in, len(in.seq), false)
	case in.as == asSecond, !(in.Kind == Message && s.held.askedFor() && s.showGrowth(it, in)) && !s.showRepeat(it, in):
		s.say(it, in, 0)
	}
}

// joinsPieces reports whether a task that was asked for has, directly before an artifact of one
// part, one of the same name and text in several parts, as pieces are appended: that joins them,
// however short (31 of 200,000 random agents).
func (h *held) joinsPieces(in *Item) bool {
	p := h.prior
	return p != nil && h.askedFor() && in.Kind == Artifact && p.Kind == Artifact && p.Name == in.Name && p.seq == in.seq &&
		in.parts() == 1 && p.parts() > 1
}

// inPieces reports whether a state has an item as it was streamed: what says another again, comes as a whole.
func (in *Item) inPieces() bool { return in.pieces > 0 || in.Kind == Artifact && in.parts() > 1 }

// parts is how many parts an item has: of an artifact, the SDKs keep each piece as one.
func (in *Item) parts() (n int) {
	for range in.Parts.All() {
		n++
	}
	return n
}

// heldKnown shows what an item that was shown has in a state; rest and begins are Shown.rest's.
// textMissing: see heldItem; false, if it was put right (mends). Of a task that comes live it may be
// replaced.
func (s *Shown) heldKnown(it *item, in *Item, rest string, begins bool) (textMissing bool) {
	switch {
	case begins && rest != "" && s.showSaidApart(it, in, rest):
	case begins && rest != "":
		s.say(it, in, len(in.seq)-len(rest))
	case begins:
	case s.held.askedFor() && in.Kind == Message && it.run == s.last && bytes.HasSuffix(s.said.text, []byte(in.seq)):
		// It is the newest piece of a message of which the agent keeps no other.
	case s.held.askedFor() && s.mends(it, in):
		last := s.last
		s.replace(it, in).heldIn = s.states
		s.last = last     // it is shown elsewhere
		return !s.InPlace // what was shown stays, and the user is told
	case s.held.askedFor():
		return true
	case len(in.seq) > it.n || in.Kind == Artifact:
		if !s.showRepeat(it, in) {
			s.replace(it, in)
		}
	}
	return false
}

// heldNew shows a message of a state that has no place in what was shown, as if it came live.
func (s *Shown) heldNew(it *item, in *Item) {
	if s.showGrowth(it, in) {
		return
	}
	if h := s.held; len(s.said.text) > 0 && in.as != asSecond {
		if s.held = nil; in.Role != End {
			in.as = inPart
		}
		again := s.showRepeat(it, in)
		if s.held = h; again {
			return
		}
	}
	s.say(it, in, 0)
}

// markSecond notes of all entries, as soon as one is not known, whether the task has their text before them, too, in a
// message of another ID, or in an artifact of another name; or the first is a whole, or the second in pieces (asSecond).
// Then these are two, as L6 says, though the stream may have said the first in pieces: of 60,000 random agents that say
// short texts, many of them equal, 10,264 lost one behind a cut, unsaid; with this 325.
func (h *held) markSecond() { // rule: markSecond
	if h.unmarked == nil {
		return
	}
	type text struct {
		kind, of Kind
		seq      string
	}
	named := h.sameIDs[Artifact] || h.from == 0 // else it may have a copy of each token
	first := make(map[text]*Item, len(h.unmarked))
	for i := range h.unmarked {
		in := &h.unmarked[i]
		k := text{in.Kind, in.Of, strings.TrimSpace(in.seq)}
		f := first[k]
		if in.Role == Said && f != nil && (in.Name != f.Name || in.inPieces() || !f.inPieces() && (named || in.Kind == Message)) {
			in.as = asSecond
		}
		if f == nil || f.inPieces() && !in.inPieces() {
			first[k] = in
		}
	}
	h.unmarked = nil
}

// isCopy reports whether a task that was asked for has a copy of what a cover has: that was said
// before it, and the task names no item of the kind as the stream did.
func (s *Shown) isCopy(c *cover, kind Kind) bool {
	return s.held.askedFor() && !s.held.sameIDs[kind] && s.said.starts[c.from].at < s.held.from
}

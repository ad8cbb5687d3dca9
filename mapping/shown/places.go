package shown

import "slices"

// This file finds the places of a task's messages, and of what an artifact goes on with, in
// what was shown.

// showAtCursor shows what a message of a state, whose IDs are not the stream's, has beyond its
// place in what was shown, and moves the cursor there; false, with nothing shown: it has none
// (S1: 3,984 turns, 1,392 with words lost; the cursor 128). Behind the end of that all is new.
// What the state names by the stream's ID has its own place: github.com/inference-gateway/adk
// has one message for all tokens of a text, and the stream's own for the question behind them.
//
// The message becomes the copy of what it says again: the next state holds that, and has its place,
// by the ID of the copy. That ADK's task has such a copy while the stream goes on, as soon as a call
// stands behind a text; and any history with IDs of its own is known by them at the second look.
func (s *Shown) showAtCursor(it *item, in *Item) bool { // rule: S1
	h := s.held
	if skip(s.said.text, h.cursor, h.before) >= h.before {
		s.heldNew(it, in)
		return true
	}
	for _, from := range s.places(weight(in.seq) < evidence) {
		to := s.nextNamed(from)
		end, ok := s.saysAt(from, to, in.seq)
		if !ok {
			continue
		}
		h.cursor = max(end.said, from+1)
		for k := range s.said.starts {
			if b := &s.said.starts[k]; b.end > from && b.at < end.said {
				b.copy = it
			}
		}
		done := end.seq
		if skip(in.seq, done, len(in.seq)) >= len(in.seq) {
			s.setText(it, in.seq)
			return true
		}
		if to < h.before {
			s.last = nil // what it goes on with stands behind another message
		} else {
			done += saidSpace(s.said.text[end.said:to], in.seq[done:])
		}
		s.sayRest(it, in, done, false)
		return true
	}
	return false
}

// saysAt compares a message with what was shown from one place to another. end is where the likeness
// ends. ok: all of the message is there, or what it has beyond may follow: behind all that was said, or
// since it is no text.
func (s *Shown) saysAt(from, to int, seq string) (end place, ok bool) {
	differ, end := alike(s.said.text[:to], seq, place{said: from})
	if end.seq == 0 || differ.seq < len(seq) && (differ.said < to || to < s.held.before && seq[differ.seq] != 0) {
		return end, false
	}
	begins := func(b start) bool { return b.at == differ.said }
	return end, differ.said >= to || !s.held.sameIDs[Message] || slices.ContainsFunc(s.said.starts, begins) // else it is a part of a message
}

// places are where a message may begin, at least one, not before the cursor: where one did, or
// last the cursor, which may stand at an artifact of its words. A token may be anywhere: it
// counts where the next message is expected alone.
func (s *Shown) places(token bool) []int {
	h := s.held
	list := make([]int, 0, 8)
	for i := range s.said.starts {
		b := &s.said.starts[i]
		if b.it.kind == Message && b.end > h.cursor && b.at < h.before && !s.isNamed(b) {
			if list = append(list, max(b.at, h.cursor)); token {
				break
			}
		}
	}
	return append(list, h.cursor)
}

// nextNamed is where behind a place the next text begins that the state names as the stream did, or else where
// its messages end.
func (s *Shown) nextNamed(from int) int {
	for i := range s.said.starts {
		if b := &s.said.starts[i]; b.at >= from && b.at < s.held.before && s.isNamed(b) {
			return b.at
		}
	}
	return s.held.before
}

// isNamed reports whether a state has a message by the stream's ID, or by one that it had before: so it has its own place.
func (s *Shown) isNamed(b *start) bool {
	is := func(it *item) bool { return it != nil && it.kind == Message && it.heldIn == s.states }
	return s.held.sameIDs[Message] && (is(b.it) || is(b.copy))
}

// showSaidApart shows what is new in the rest of an artifact that was shown, if the rest begins
// with what was said last, in pieces that the task does not hold (S6); false, with nothing shown:
// it does not. No length is asked for, since the cut may be behind the first token; so a message,
// which may be short and whole ("No"), is never taken for that. ADK for Go says tokens in an
// artifact of their own, and then appends their text to that of the whole run: 50 of 1,656 faults
// of recordings had words twice, and a gap.
func (s *Shown) showSaidApart(it *item, in *Item, rest string) bool { // rule: S6
	if !s.held.askedFor() || it.kind != Artifact {
		return false
	}
	for i := range s.said.starts {
		of := s.said.starts[i].it
		if of == it || of.kind != Artifact || of.life == dead || of.heldIn == s.states {
			continue
		}
		if c, ok := s.coversFrom(i, &Item{Kind: it.kind, seq: rest, as: asWhole}); ok && c.to == len(s.said.text) {
			s.supersede(&c, it)
			s.sayRest(it, in, len(in.seq)-len(c.rest), false)
			return true
		}
	}
	return false
}

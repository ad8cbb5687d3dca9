package shown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// evidence is how many bytes, white space left out, tell that a text says again what
	// was said before: fewer may come twice in natural sentences.
	evidence = 16
	// short is how long a text may be that is a piece although it was said just so.
	short = 8
	// maxDoubted is how much text of an item may be shown late: see [Shown.isDoubtful].
	maxDoubted = 4 << 10
)

// A cover says which of what was said a text says again.
type cover struct {
	from   int    // the index of the start that it begins at
	to     int    // where in said it ends
	rest   string // what the text has behind that
	pieces int    // events that have said it
}

// showRepeat shows an item that says again what this turn has said: that as a repetition, and
// what it has beyond as new; false, with nothing shown, if it is none. The items that it
// repeats are superseded (S5); the message being shown is ended, if it is all of that.
func (s *Shown) showRepeat(it *item, in *Item) bool { // rule: L6
	c, ok := s.covers(in)
	if !ok || !s.isRepetition(&c, in) {
		return s.showLastAnswer(it, in)
	}
	own := s.supersede(&c, it)
	s.sayRest(it, in, len(in.seq)-len(c.rest), own)
	s.endRun(&c)
	return true
}

// endRun ends the message being shown if a whole has said all of it: what comes behind that is another.
func (s *Shown) endRun(c *cover) {
	if s.isAll(c) && s.last.growth != cumulative {
		s.last, s.restated = nil, s.said.starts[c.from].at
	}
}

// showLastAnswer shows a message that ends the task, and has been said in pieces at the end of the newest artifact, as a
// repetition; false, with nothing shown, if it is none. AG2 streams the answers before and behind a tool's call as one
// artifact, and then says the last of them again; a2acode says notes between, and then all of the artifact again. Behind
// anything else that was said the end alone may be said anew.
func (s *Shown) showLastAnswer(it *item, in *Item) bool { // rule: showLastAnswer
	answer := strings.TrimSpace(in.seq)
	if in.Role != End || in.Kind != Message || weight(answer) < evidence {
		return false
	}
	var newest *item
	pieces := 0
	for i := range s.said.starts {
		switch b := &s.said.starts[i]; {
		case b.it.kind == Artifact && b.it != newest:
			newest, pieces = b.it, b.pieces
		case b.it == newest:
			pieces += b.pieces
		}
	}
	said := strings.TrimSpace(s.said.textOf(func(it *item) bool { return it == newest }))
	before, ends := strings.CutSuffix(said, answer)
	if pieces < 2 || !ends || !meetBetweenWords([]byte(before), answer) || before != "" && s.said.last() != newest {
		return false
	}
	s.setText(it, in.seq)
	s.repeat(it, in, len(in.seq), Begin)
	return true
}

// supersede notes that an item has said all of a cover (S5). own: its own pieces are among that.
func (s *Shown) supersede(c *cover, it *item) (own bool) {
	for _, b := range s.said.starts[c.from:] {
		switch {
		case b.at >= c.to:
		case b.it == it:
			own = true
		default:
			b.it.life = dead // rule: S5
		}
	}
	return own
}

// anyOf reports whether any of the starts that a cover of a text of that kind consists of is so.
func (s *Shown) anyOf(c *cover, kind Kind, is func(b *start) bool) bool {
	for i := c.from; i < len(s.said.starts) && s.said.starts[i].at < c.to; i++ {
		b := &s.said.starts[i]
		if (b.it.kind == Thought) == (kind == Thought) && skip(s.said.text, b.at, b.end) < b.end && is(b) {
			return true
		}
	}
	return false
}

// crosses reports whether some of a cover is of another kind than an item, or thoughts that came in another.
func (s *Shown) crosses(c *cover, in *Item) bool {
	return s.anyOf(c, in.Kind, func(b *start) bool { return b.it.kind != in.Kind || b.it.of != in.Of })
}

// isRepetition reports whether a cover is evidence enough that an item's text repeats what was said. Of a
// task that was asked for and names its items otherwise than the stream did, every match with what was said
// before it is (isCopy): an artifact of each token (lynx, loomcycle), however often its word has come.
//
// L6: evidence tells that, not the carrier (390 turns). A new ID repeats if it equals, white
// space left out, all of the message that is being shown, made of at least two pieces; from any
// other start 16 bytes are asked for, and so they are of an artifact that has the words of a
// message that came at once (add_artifact of a2a-python's TaskUpdater, behind a status message:
// Strands, AG2); fewer may be a file's first chunk. Besides, a text that is said as a whole may
// repeat an item of the other kind, or go on behind what was said; what ends the task may also
// repeat the message before it (BeeAI's framework for Python, by its source, sends each message
// of its agent, and then the last one again), but where that was asked, and answered.
// Otherwise, within one kind, equal texts of new IDs are new: two artifacts of equal text are
// two, and so are two of which one begins with the other, unless that came in pieces. So the
// first piece of an artifact is new, although what was said begins with it (L9).
func (s *Shown) isRepetition(c *cover, in *Item) bool {
	n, all := weight(in.seq), s.isAll(c)
	switch {
	case s.isCopy(c, in.Kind),
		all && c.pieces >= 2,
		all && n >= evidence && in.Kind == Artifact && s.crosses(c, in):
		return true
	case in.as != inPart:
		return s.isWholeAgain(c, in)
	case c.rest == "":
		return c.pieces >= 2 && n >= evidence
	}
	// An SDK's add_artifact says neither append nor lastChunk of a whole that goes on.
	return c.pieces >= 2 && s.crosses(c, in) && c.to == len(s.said.text) && weight(in.seq[:len(in.seq)-len(c.rest)]) >= evidence
}

// isWholeAgain is isRepetition for a text that is said as a whole: it repeats an item of the other kind, or what
// came in pieces. What ends the task is also the message before it again, where that was not asked and answered,
// if it is long, was a whole already, or no space is between ("OK", "OK").
func (s *Shown) isWholeAgain(c *cover, in *Item) bool {
	restated, long := in.Role == End && s.isRestated(c), weight(in.seq) >= evidence
	if s.crosses(c, in) || c.pieces >= 2 && (long || restated) || in.Hint == Whole && s.isStreamed(c, in.Kind) {
		return true
	}
	last, _ := utf8.DecodeLastRune(s.said.text)
	at := s.said.starts[c.from].at // of words, or of a line, and no token in it
	alone := s.last != nil && (at <= s.last.at || s.said.text[at-1] == '\n' || strings.ContainsFunc(strings.TrimSpace(in.seq), unicode.IsSpace))
	again := long || restated || alone && !unicode.IsSpace(last) && !goesOn(in.seq)
	return in.Role == End && (s.isAll(c) || restated) && again && s.said.starts[c.from].it.run.pauses == s.pauses
}

// isAll reports whether a cover has the end of said and all of the message being shown, or of
// the newest item, and the text nothing beyond.
func (s *Shown) isAll(c *cover) bool {
	if c.rest != "" || c.to != len(s.said.text) || s.last == nil {
		return false
	}
	return s.said.starts[c.from].at <= s.last.at || c.from == s.said.newestStart()
}

// isStripped reports whether a text is all that an item has said since another spoke, in at least
// three pieces, with other white space. Two may be a word and a space, and the word may come again.
func (s *Shown) isStripped(it *item, in *Item) bool {
	k := len(s.said.starts) - 1
	if s.said.last() != it || k > 0 && s.said.starts[k-1].it == it || s.said.starts[k].pieces < 3 || weight(in.seq) < evidence {
		return false
	}
	c, ok := s.coversFrom(k, &Item{Kind: it.kind, seq: in.seq, as: asWhole})
	return ok && c.rest == ""
}

// isRestated reports whether a whole has said just this before, and nothing stood between: a
// task's result, and then the message that ends it.
func (s *Shown) isRestated(c *cover) bool {
	b := &s.said.starts[c.from]
	return s.last == nil && b.it.epoch == s.epoch && b.at == s.restated
}

// isStreamed reports whether a cover is made of pieces that a dialect has marked, ends with the
// newest text of the kind, and has all of the text.
func (s *Shown) isStreamed(c *cover, kind Kind) bool {
	for i := len(s.said.starts) - 1; i >= 0 && s.said.starts[i].at >= c.to; i-- {
		if b := &s.said.starts[i]; b.it.kind == kind && s.said.text[b.at] != 0 {
			return false
		}
	}
	return c.rest == "" && !s.anyOf(c, kind, func(b *start) bool { return b.hint != Piece })
}

// sayRest shows the first n bytes of an item, which were said before, as a repetition, and the
// rest as new, in the run of the newest text. own: its own pieces are among them, and count
// once.
func (s *Shown) sayRest(it *item, in *Item, n int, own bool) {
	was, op := s.last, Begin
	switch {
	case !in.Append || it.n == 0:
		s.setText(it, in.seq[:n])
	case !own:
		s.extend(it, in.seq[:n])
		op = Grow
	}
	s.repeat(it, in, n, op)
	if n == len(in.seq) {
		return
	}
	if was != nil && was.epoch == s.epoch {
		it.run = was
	}
	s.say(it, in, n)
}

// covers compares a text, white space left out, with what the turn has said, from each start.
// best has all of the text, or else is the first that it goes beyond; false: there is none. What
// a dialect knows to be a whole says its own pieces again, and not an equal text before them.
func (s *Shown) covers(in *Item) (best cover, ok bool) {
	begin := headOf(in.seq) // its length is the text's weight
	if begin.n == 0 || len(s.said.starts) == 0 || in.as == inPart && s.isShort(in, begin.n) {
		return cover{}, false
	}
	newest := s.said.newestStart() // a whole may have come before: "Wait..." twice
	if c, good := s.coversFrom(newest, in); good && c.rest == "" && (in.Hint != Whole || s.isStreamed(&c, in.Kind)) {
		return c, true
	}
	for i := range s.said.starts {
		if !s.said.starts[i].head.fits(&begin) {
			continue
		}
		switch c, good := s.coversFrom(i, in); {
		case !good:
		case c.rest == "" && (in.Hint != Whole || s.isStreamed(&c, in.Kind)):
			return c, true
		case !ok || best.rest != "" && c.rest == "":
			best, ok = c, true
		}
	}
	return best, ok
}

// isShort reports whether a text, of this weight and not in a task, is less than the message being
// shown, or its end, and too short to repeat anything else: to look costs as much as there are items.
func (s *Shown) isShort(in *Item, n int) bool {
	if s.held != nil || n >= evidence {
		return false
	}
	if s.last == nil || s.last.at >= len(s.said.text) || len(in.seq) < weightLess(s.said.text[s.last.at:], n) {
		return true
	}
	end := &s.said.starts[len(s.said.starts)-1]
	return (end.it.kind == Thought) != (in.Kind == Thought) || weightLess(s.said.text[end.at:], n) > n
}

// coversFrom is covers from one start on: true if the text ends as that of a start does, or has
// all that was said from there, and more. Thoughts repeat thoughts alone, and nothing else
// does.
func (s *Shown) coversFrom(from int, in *Item) (c cover, ok bool) {
	c.from = from
	var at, done place // done: behind the last bytes that are alike
	var tail []byte    // the white space that was said behind these
	for i := from; i < len(s.said.starts); i++ {
		b := &s.said.starts[i]
		if (b.it.kind == Thought) != (in.Kind == Thought) {
			continue
		}
		c.to, at.said = b.end, b.at
		differ, behind := alike(s.said.text[:c.to], in.seq, at)
		if at = differ; at.said < c.to && at.seq < len(in.seq) {
			return c, false
		}
		if behind.said > b.at {
			done, tail = behind, s.said.text[behind.said:c.to]
			c.pieces += b.pieces
		}
		if at.seq >= len(in.seq) {
			if ok = at.said >= c.to; ok && (in.as != inPart || done.seq < len(in.seq)) && skip(s.said.text, at.said, len(s.said.text)) == len(s.said.text) {
				c.to = len(s.said.text) // its last token may be a line break, as that of the whole
			}
			return c, ok
		}
	}
	if done.seq == 0 || !s.held.askedFor() && !meetBetweenWords(s.said.text[:done.said], in.seq[done.seq:]) {
		return c, false
	}
	c.rest = in.seq[done.seq+saidSpace(tail, in.seq[done.seq:]):]
	return c, true
}

// saidSpace is how many bytes of white space, as the text was shown with, its rest begins with.
func saidSpace(tail []byte, rest string) (n int) {
	for n < len(tail) {
		_, next := utf8.DecodeRune(tail[n:])
		if !strings.HasPrefix(rest[n:], string(tail[n:n+next])) {
			break
		}
		n += next
	}
	return n
}

// meetBetweenWords reports whether a text that goes on with rest ends between words.
func meetBetweenWords(said []byte, rest string) bool {
	a, _ := utf8.DecodeLastRune(said)
	b, _ := utf8.DecodeRuneInString(rest)
	return !isWord(a) || !isWord(b)
}

package mapping

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file shows texts that an event holds as a whole: the part that was not shown
// yet.

// wholeMessage shows what is new in a message that a snapshot holds, or that may
// repeat what was streamed.
func (f *Fold) wholeMessage(m *a2a.Message, how carriage) {
	text := wholeText(m.Parts)
	sh := f.texts.of(m.ID, false)
	known := sh.n > 0 && sh.turn == f.texts.turn && sh.run != nil
	new, differs := f.unshown(sh, text, how)
	skip := len(text) - len(new)
	if from := len(f.texts.said.text); how == held && skip > 0 && !known {
		defer func() { f.texts.foretell(sh, from) }() // a replay may bring the rest in parts
	}
	p := &f.part
	for left := m.Parts; left.Next(p); {
		if p.Kind != a2a.PartText {
			f.otherPart(m, p, true)
			continue
		}
		if skip >= len(p.Text) {
			skip -= len(p.Text)
			continue
		}
		whole := p
		if skip > 0 {
			whole = nil
		}
		f.text(sh, p.Text[skip:], whole, Step{MessageID: m.ID}, f.mayJoin(m))
		skip = 0
	}
	if how == held && !differs {
		sh.held = f.texts.snapshots
		f.storesSaid = f.storesSaid || known
	}
}

// unshown returns the end of a message's text that was not shown. differs: the agent
// holds less than was shown, or other text; then what the user has stays.
func (f *Fold) unshown(sh *shown, text string, how carriage) (rest string, differs bool) {
	if how == held && sh.n > 0 {
		return f.restHeld(sh, text)
	}
	if how == saidLast && (f.loss.again || f.echo) && f.texts.isAll(sh, text) {
		return "", false // a replay of it
	}
	if rest, ok := sh.known(text); ok {
		f.texts.adopt(sh, text[:len(text)-len(rest)])
		return rest, false
	}
	if how == held && (f.superseded || !f.came[sh.id]) && f.texts.foretold(sh, "", text) {
		return "", false
	}
	if how == held && slices.Contains(f.less, text) { // the whole of an artifact that was shortened
		f.texts.adopt(sh, text)
		return "", false
	}
	// Two messages of a snapshot are two, even if they say the same, and so is one that
	// has come as an event; but its last one may repeat the others, and all may be known
	// by other IDs.
	if how == held && (f.texts.sameIDs && sh.id != f.texts.lastHeld || f.came[sh.id] || f.texts.isBoth(text)) {
		return text, false
	}
	if rest, ok := f.repeats(sh, text); ok {
		return rest, false
	}
	return text, false
}

// restHeld is unshown for a message of a snapshot that was shown.
func (f *Fold) restHeld(sh *shown, text string) (rest string, differs bool) {
	rest, replaced, short := f.texts.rest(sh, text)
	switch {
	case replaced && f.inserted(sh, text, Step{MessageID: sh.id}):
		return "", false
	case replaced || short:
		return "", true
	}
	if f.saysRest(sh, rest, text) {
		rest = ""
	}
	return rest, false
}

// saysRest reports whether another artifact, the newest text, has said the rest of a text of
// which the beginning was shown, or, in an earlier turn, a whole has. The text is noted as shown.
func (f *Fold) saysRest(sh *shown, rest, text string) bool {
	last := f.texts.growing
	inTurn := last != nil && last != sh && last.artifact && f.isSaid(text)
	if rest == "" || !inTurn && (sh.turn == f.texts.turn || !f.texts.wasSaid(sh, text)) {
		return false
	}
	f.texts.adopt(sh, text)
	return true
}

// repeats reports whether a text says again what the turn has shown, and returns
// what it adds to that. The text is noted as shown, but for what it adds.
func (f *Fold) repeats(sh *shown, text string) (rest string, ok bool) {
	if rest, ok = sh.known(text); ok {
		f.texts.adopt(sh, text[:len(text)-len(rest)])
		return rest, true
	}
	f.texts.said.cut = f.whole && f.loss.away && (sh.artifact || sh.id == f.texts.lastHeld)
	rest, ok = f.texts.said.covers(text)
	if !ok && f.texts.isAnother(sh, text) || (!ok || rest != "") && (f.loss.told || f.texts.said.late) && f.texts.said.assembles(text) {
		rest, ok = "", true
	}
	if !ok {
		return text, false
	}
	if f.whole {
		f.texts.covered(text)
	}
	if sh.n > 0 && !sh.artifact {
		return rest, true // its own text: it goes on
	}
	last := f.texts.growing
	f.texts.adopt(sh, text[:len(text)-len(rest)])
	if last != nil && last != sh {
		sh.run = last.run // what it adds goes on there
	}
	return rest, true
}

// artifact shows an artifact of the stream, or a piece of one. One that is not appended
// replaces what was shown under its ID in this task (A2A 1.0, §4.2.2). If it begins
// with what this turn has shown of it, the rest is shown, which comes to the same;
// otherwise, and always in a later turn, it is shown anew.
func (f *Fold) artifact(a *a2a.Artifact, follows, last bool) {
	sh := f.texts.of(a.ID, true)
	f.texts.passed(sh)
	if len(f.loss.awaited) > 0 && f.comesLate(sh, wholeText(a.Parts), follows) {
		f.artifactParts(sh, a, len(wholeText(a.Parts)), last, false) // what is no text
		return
	}
	if (f.echo || f.loss.again || f.loss.blind) && f.artifactAgain(sh, a, follows, last) { // the text costs as much as the rest of a large event
		return
	}
	if follows {
		f.texts.follow(sh, f.loss.blind && f.loss.state == lost)
		f.artifactParts(sh, a, 0, last, false)
		return
	}
	text := wholeText(a.Parts)
	rest, again, anew := text, "", false
	switch ok := false; {
	case sh.n == 0 && !last && !f.isNewestSaid(text): // a first piece
	case sh.n > 0 && sh.turn == f.texts.turn && f.goesOn(sh, text, &rest):
	default:
		if sh.n == 0 || !f.isLess(sh, text) && f.isSaid(text) {
			again, ok = f.repeats(sh, text)
		}
		if ok {
			rest = again
		} else if sh.n > 0 {
			f.replace(sh)
			anew = true
		}
	}
	from := len(f.texts.said.text)
	f.artifactParts(sh, a, len(text)-len(rest), last, anew)
	f.mayBeAhead(sh, from, text, again)
}

// artifactAgain shows an artifact that may be one that was shown, and comes again or late. It
// reports whether it is.
func (f *Fold) artifactAgain(sh *shown, a *a2a.Artifact, follows, last bool) bool {
	text := wholeText(a.Parts)
	if f.echoed(sh, text) { // the snapshot had it
		return true
	}
	if f.echo && follows && f.State.Terminal() && sh.short.n > 0 {
		return true // the agent has taken it back since
	}
	if f.echo && !follows && sh.short.n == len(text) && f.isLess(sh, text) { // likewise
		if !f.superseded {
			f.texts.knows(sh, text) // the agent has taken back the rest
		}
		return true
	}
	if rest, ok := f.replayed(sh, text, follows); ok {
		f.text(sh, rest, nil, Step{ArtifactID: a.ID, MessageID: a.ID, Name: a.Name, Description: a.Description, Append: true}, never)
		f.artifactParts(sh, a, len(text), last, false) // what is no text
		return true
	}
	if follows {
		return f.blindly(sh, text)
	}
	return f.loss.blind && f.texts.isAll(sh, text)
}

// isSaid reports whether all of a text was said in this turn. That tells a repetition
// from an artifact that is replaced and goes on with new words.
func (f *Fold) isSaid(text string) bool {
	rest, ok := f.texts.said.covers(text)
	return ok && rest == ""
}

// isNewestSaid reports whether a text equals the end of what was shown: then it repeats
// that, and is no first piece of another text.
func (f *Fold) isNewestSaid(text string) bool {
	const end = "\x00" // goes on only where all that was shown has been compared
	rest, ok := f.texts.said.covers(text + end)
	return ok && rest == end
}

// goesOn reports whether a whole text begins with what was shown of it, and sets
// rest to what follows.
func (f *Fold) goesOn(sh *shown, text string, rest *string) bool {
	more, replaced, short := f.texts.rest(sh, text)
	if replaced || short {
		return false
	}
	*rest = more
	return true
}

// heldArtifact shows what is new in an artifact that a snapshot holds.
func (f *Fold) heldArtifact(a *a2a.Artifact) {
	sh := f.texts.of(a.ID, true)
	defer f.inPlace(sh)()
	text := wholeText(a.Parts)
	rest, anew := text, false
	if sh.n > 0 {
		more, replaced, short := f.texts.rest(sh, text)
		sure := short && f.texts.isBeginning(sh, text)
		switch {
		case (replaced || short && !sure) && f.hasGrown(sh, text, &rest):
		case short && !sure && f.insertedArtifact(sh, a, text):
			return // what is missing was replaced unheard
		case short:
			f.noteShort(sh, a, text)
			return
		case !replaced:
			if rest = more; f.saysRest(sh, rest, text) {
				rest = ""
			}
		case f.isAsBefore(sh, text), f.insertedArtifact(sh, a, text):
			return
		case sh.turn == f.texts.turn && !f.isSaid(text) || !f.restates(sh, text, &rest):
			f.replace(sh)
			anew = true
		}
	} else if slices.Contains(f.less, text) { // the whole of an artifact that was shortened
		f.texts.adopt(sh, text)
		rest = ""
	} else {
		f.restates(sh, text, &rest)
	}
	from := len(f.texts.said.text)
	f.artifactParts(sh, a, len(text)-len(rest), false, anew)
	f.texts.foretell(sh, from)
	sh.held = f.texts.snapshots
}

// inPlace lets an artifact of a snapshot go on where it was, unless something else was shown
// since: a task does not tell the order. The function that it returns ends that.
func (f *Fold) inPlace(sh *shown) (end func()) {
	r := sh.run
	if r == nil || r.turn != f.texts.turn || r.epoch != f.texts.before {
		return func() {}
	}
	was := r.epoch
	r.epoch = f.texts.epoch
	return func() { r.epoch = was }
}

// insertedArtifact is inserted for an artifact.
func (f *Fold) insertedArtifact(sh *shown, a *a2a.Artifact, text string) bool {
	if !f.inserted(sh, text, Step{ArtifactID: a.ID, MessageID: a.ID, Name: a.Name, Description: a.Description}) {
		return false
	}
	f.artifactParts(sh, a, len(text), false, false) // what is no text
	sh.held = f.texts.snapshots
	return true
}

// inserted shows what a text has before, or in the middle of, what was shown of it, and behind:
// it was missed when the agent went on. It reports whether there is such a text.
func (f *Fold) inserted(sh *shown, text string, s Step) bool {
	from, list, ok := f.texts.between(sh, text)
	if !ok {
		return false
	}
	f.texts.adopt(sh, text[:from])
	s.mark = &mark{within: true}
	for _, missed := range list {
		if missed != "" {
			f.text(sh, missed, nil, s, never)
			sh.run = nil
		}
	}
	f.texts.knows(sh, text)
	return true
}

func (f *Fold) restates(sh *shown, text string, rest *string) bool {
	again, ok := f.repeats(sh, text)
	*rest = again
	return ok
}

// artifactParts shows an artifact's parts, but for the first bytes of its text.
// anew: they replace what was shown.
func (f *Fold) artifactParts(sh *shown, a *a2a.Artifact, skip int, last, anew bool) {
	p := &f.part
	first := anew || sh.n == 0 && !sh.parts
	for rest := a.Parts; rest.Next(p); {
		s := Step{ArtifactID: a.ID, MessageID: a.ID, Name: a.Name, Description: a.Description, LastChunk: last, Append: !first}
		switch {
		case p.Kind != a2a.PartText:
			sum := markSum(string(p.Raw))
			if isEmptyJSON(p.Data) && p.Kind == a2a.PartData || !f.texts.once(sh, sum) {
				continue
			}
			f.missed(false)
			part := *p
			s.Kind, s.Part, s.Shown, s.mark = StepPart, &part, f.texts.partName(sh), partMark(sh, sum)
			f.add(s)
		case skip >= len(p.Text):
			skip -= len(p.Text)
			continue
		default:
			whole := p
			if skip > 0 {
				whole = nil
			}
			f.text(sh, p.Text[skip:], whole, s, never)
			skip = 0
		}
		first = false
	}
}

// wholeText returns the text of all parts of a list, joined.
func wholeText(parts a2a.Parts) string {
	text, n := "", 0
	var b strings.Builder
	for p := range parts.All() {
		if p.Kind != a2a.PartText || p.Text == "" {
			continue
		}
		switch n++; n {
		case 1:
			text = p.Text
		case 2:
			b.WriteString(text)
			fallthrough
		default:
			b.WriteString(p.Text)
		}
	}
	if n > 1 {
		return b.String()
	}
	return text
}

package mapping

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// loss is the part of a [Fold] that knows what a lost connection has cost. What a
// snapshot does not show the agent to hold counts as lost. That is told once for each
// cut: in front of the first thing that is shown after it, where the text is missing,
// or at the end of the turn.
type loss struct {
	// cut: nothing has come since the connection was lost. away: nothing but snapshots
	// that were asked for.
	cut, away bool
	state     lossState
	// rest is how the task rested when the connection was lost.
	rest Rest
	// resumed is the place behind the step of the event in hand that says that the
	// agent is there again; 0: there is none.
	resumed int
	// again: the agent says again what it has said. blind: it cannot be asked what that was.
	// replays are what it has said again of texts of which it had said more; nil: no less.
	// aligned: a snapshot has told of what is said again.
	again, blind, aligned bool
	replays               map[*shown]*strings.Builder
	awaited               awaited
	// told: the user was told in this turn. owed: not yet of a loss that nothing can make up for.
	told, owed bool
	// said: the user was told, at the event of that number, and since then nothing but
	// snapshots has come. content is the last event of which something was shown.
	said            bool
	saidAt, content int
}

// quiet reports whether no loss is known or possible.
func (l *loss) quiet() bool {
	return !l.away && !l.said && !l.again && l.resumed == 0 && l.state == nothingLost && len(l.awaited) == 0
}

type lossState uint8

const (
	nothingLost lossState = iota
	// maybeLost: the agent holds no history, or only its end. It holds artifacts of the
	// time of the cut; whether it said more is not known.
	maybeLost
	// lost: something was shown that the agent does not hold, so it need not hold
	// what it has said meanwhile.
	lost
)

// Cut notes that the connection to the agent was lost: from now on something may be
// missing before the next event.
func (f *Fold) Cut() {
	f.texts.settle() // what is missing in the middle of a text may be between this and what follows: see between
	l := &f.loss
	f.cut = true
	f.loss = loss{cut: true, away: true, rest: f.rest, said: l.said && l.content <= l.saidAt, saidAt: l.saidAt, content: l.content, told: l.told,
		owed: l.owed || l.blind && l.state == lost}
}

// Repeated notes that the agent has said again, event by event, all that it had
// said before the connection was lost, so that nothing is missing but what is owed.
func (f *Fold) Repeated() {
	if f.loss.away = false; f.loss.owed {
		f.loss.state = lost
	} else {
		f.loss.state = nothingLost
	}
}

// Again notes that the agent says again what it has said, from the beginning,
// though not all of that has been heard: a message that comes again as it was shown
// is the same one. (Without that it may be a chunk that repeats the one before.)
func (f *Fold) Again() { f.loss.again, f.cut = true, true }

// saysAgain reports whether events hold a message as it was shown, before other text, or two as
// they were shown in earlier turns (one ID may serve for one of each): they are a replay, though
// nothing else tells. The newest may be a chunk that is said twice.
func (f *Fold) saysAgain(events []a2a.Event) bool {
	earlier := map[*shown]bool{}
	return slices.ContainsFunc(events, func(ev a2a.Event) bool {
		if ev.Kind == a2a.EventArtifact {
			return false
		}
		sh, text := f.textOf(&ev)
		if sh == nil || sh.n == 0 || !f.texts.isAll(sh, text) {
			return false
		}
		if sh.turn != f.texts.turn {
			earlier[sh] = true
			return len(earlier) > 1
		}
		return sh.pos+sh.n < len(f.texts.said.text)
	})
}

// comesBetween reports whether a message that was not shown, nor is in a whole that was, comes
// before one that was.
func (f *Fold) comesBetween(events []a2a.Event) bool {
	before := false // one that was not shown has come
	for i := range events {
		if events[i].Kind == a2a.EventArtifact {
			continue
		}
		switch sh, text := f.textOf(&events[i]); {
		case sh == nil || text == "":
		case sh.n == 0 && sh.stored.n == 0:
			before = before || !f.texts.isAhead(text)
		case before && f.texts.isAll(sh, text):
			return true
		}
	}
	return false
}

// Blind notes that the agent cannot be asked what it has said while the connection was lost.
// events are the first that its stream brings after that, nil if there is none. They may show
// that the agent says everything again.
func (f *Fold) Blind(events []a2a.Event) {
	f.loss.state, f.loss.blind = lost, true
	f.loss.again = f.loss.again || f.saysAgain(events)
}

// blindly reports whether the first piece that comes from an agent that cannot be asked is what
// was shown last of the same text: it has been pushed late, or comes again.
func (f *Fold) blindly(sh *shown, text string) bool {
	return f.loss.blind && f.loss.state == lost && sh.n > 0 && f.texts.isNewest(sh, text)
}

// replayed compares a piece of a text that is said again from its beginning with what was
// shown of it. It returns what is new; ok is false if the piece is no repetition.
func (f *Fold) replayed(sh *shown, text string, follows bool) (rest string, ok bool) {
	if !f.loss.again || f.loss.aligned || f.echo && !f.behind {
		return text, false
	}
	all, known := f.loss.replays[sh]
	switch {
	case known && all == nil && follows, !known && sh.n == 0 && sh.stored.n == 0:
		all = nil
	case all == nil || !follows:
		all = &strings.Builder{}
	}
	if f.loss.replays == nil {
		f.loss.replays = map[*shown]*strings.Builder{}
	}
	f.loss.replays[sh] = nil
	if all == nil {
		return text, false
	}
	began := all.Len() > 0
	all.WriteString(text)
	rest, replaced, short := f.texts.restOf(sh, all.String())
	if short {
		f.loss.replays[sh] = all
		return "", true
	}
	return rest, began || !replaced // something else: what was taken for a repetition is shown, too
}

// unheld notes that the agent does not hold what it has just said, so it may not hold
// what it said during the cut either.
func (l *loss) unheld() {
	if l.away && !l.said {
		l.state = lost
	}
}

// resumed shows that the agent is there again.
func (f *Fold) resumed() {
	f.loss.resumed = 0
	if f.event.Kind != a2a.EventTask && !f.echo {
		f.loss.away = false // events come again
	}
	if f.loss.cut {
		f.loss.cut = false
		f.addConnection(Connection{Phase: PhaseResumed})
		f.loss.resumed = len(f.steps)
	} else if !f.loss.away {
		f.loss.said = false
	}
}

func (f *Fold) addConnection(c Connection) { f.add(Step{Kind: StepConnection, Connection: c}) }

// missed is called before something is shown that the agent has just said.
// byStatus: in a status message.
func (f *Fold) missed(byStatus bool) {
	if f.loss.state == nothingLost || f.whole || f.loss.state == maybeLost && !byStatus {
		return
	}
	f.tellLoss(len(f.steps))
	f.loss.state = nothingLost
}

// weigh decides, after a snapshot, whether something was lost in the cut before
// it. from is where the steps begin that the snapshot has given.
// Artifacts do not tell when they were said, so that what may be missing is said
// where a status message follows.
func (f *Fold) weigh(from int) {
	if !f.loss.away && f.loss.state == nothingLost {
		return // no connection was lost
	}
	if f.loss.said {
		f.loss.state = nothingLost
		return
	}
	switch {
	case f.texts.missing() || f.calls.Missing() || f.partial || f.disordered:
		f.loss.state = lost
	case !f.storesSaid:
		f.loss.state = maybeLost
	default:
		f.loss.state = nothingLost
	}
	content := slices.IndexFunc(f.steps[from:], func(s Step) bool {
		return s.Kind != StepState && (f.loss.state == lost || s.ArtifactID == "")
	})
	if f.loss.state != nothingLost && content >= 0 {
		f.tellLoss(from + content)
		f.loss.state = nothingLost
	}
}

// tellLossAtEnd tells of a loss at the end of a turn in which nothing was shown after
// the cut.
func (f *Fold) tellLossAtEnd() {
	if f.loss.state != nothingLost {
		f.tellLoss(len(f.steps))
	}
	f.loss.state = nothingLost
}

// tellLoss says, at a place among the steps, that something may be missing there.
func (f *Fold) tellLoss(at int) {
	if f.loss.said {
		return
	}
	f.loss.said, f.loss.told, f.loss.owed, f.loss.saidAt = true, true, false, f.texts.event
	if n := f.loss.resumed; n > 0 && !slices.ContainsFunc(f.steps[n:at], func(s Step) bool { return s.Kind != StepState && s.ArtifactID == "" }) {
		f.steps[n-1].Connection.Gap = true
		return
	}
	f.addConnection(Connection{Phase: PhaseResumed, Gap: true})
	last := len(f.steps) - 1
	s := f.steps[last]
	f.steps = slices.Insert(f.steps[:last], at, s)
}

package world

import (
	"slices"
	"strings"
	"time"
)

// A screen is a turn as the editor shows it, as one text.
type screen struct {
	text string
	gaps []gap
	// pieces are the beginnings of the pieces of text, with their messages; first are the
	// beginnings of messages.
	pieces []pieceOf
	first  map[string]int
}

// A gap is where in the text, and when, the bridge reported that something may be
// missing.
type gap struct {
	place int
	at    time.Duration
}

type pieceOf struct {
	at int
	id string
}

// screenOf joins what is shown. marks: with calls and thoughts.
func screenOf(shown []*Shown, marks bool) *screen {
	s := &screen{first: map[string]int{}}
	var b strings.Builder
	for _, x := range shown {
		if _, ok := s.first[x.ID]; !ok {
			s.first[x.ID] = b.Len()
		}
		s.pieces = append(s.pieces, pieceOf{b.Len(), x.ID})
		switch {
		case x.saysNothing():
		case x.Kind == ShownText:
			b.WriteString(strip(x.Text))
		case x.Kind == ShownGap:
			s.gaps = append(s.gaps, gap{b.Len(), x.At})
		case marks && x.Kind == ShownTool && x.New && x.Name != "":
			b.WriteString(mark(x.Name))
		case marks && x.Kind == ShownThought:
			b.WriteString(mark(thoughtIn(x.Text)))
		}
	}
	s.text = b.String()
	return s
}

// saysNothing reports whether empty data are shown, like the part by which some agents
// end a stream. They have no place in the text.
func (s *Shown) saysNothing() bool {
	text := strip(s.Text)
	return s.Kind == ShownText && (strings.Contains(text, "`json{}`") || s.Data && strings.Contains(text, `"data":{}`))
}

// thoughtIn is the word of a thought.
func thoughtIn(text string) string {
	text = strings.TrimLeft(text, "*")
	return text[:min(len(text), len("t0a0"))]
}

// message is the ID of the message that a place of the text is in.
func (s *screen) message(at int) string {
	i, ok := slices.BinarySearchFunc(s.pieces, at, func(p pieceOf, at int) int { return p.at - at })
	if !ok {
		i--
	}
	for ; i+1 < len(s.pieces) && s.pieces[i+1].at <= at; i++ {
	}
	if i < 0 {
		return ""
	}
	return s.pieces[i].id
}

// Costs of deviations. The alignment with the least cost explains best what happened.
const (
	costMissing = 6 // an element is missing
	costExcused = 1 // an element is missing behind a gap
	costHad     = 5 // an element is missing although it arrived
	costSame    = 7 // replacing text continues the replaced text's message
	costExtra   = 8 // text begins that nobody said
	costWithin  = 4 // it begins within a word
	costChar    = 2 // a character of such text
	costWhole   = 1 // a whole that repeats what may be its parts
	costEnd     = 3 // the end of such a whole, and 1 for each part left out
	noWay       = 1 << 20
)

// An aligner aligns the expected elements with what is shown, in their order, each at
// most once.
//
// After a cut, or where the task is looked at behind an answer, text of two carriers may
// come in another order, since a task keeps them apart: then there are two threads, each
// with its own order.
type aligner struct {
	screen  *screen
	threads [2][]*element
	loose   bool // the gap may be reported anywhere
	losses  []time.Duration
	excused bool // missing is no fault: the turn failed
	partial bool // not even if it has arrived: the editor has ended before
	memo    map[position]int
	// place is where in its thread an element stands.
	place map[*element]int
}

func newAligner(v *turnView, s *screen) *aligner {
	a := &aligner{screen: s, memo: map[position]int{}, place: map[*element]int{}}
	kinds := map[bool]bool{}
	for _, e := range v.elements {
		if !e.mark {
			kinds[e.artifact] = true
		}
	}
	a.loose, a.losses = len(kinds) == 2 && (v.excuse("two carriers", v.disturbed()) || v.excuse("two carriers: an answer, and the task is looked at", v.answeredAndLooked())), v.losses()
	unordered := v.unordered()
	for _, e := range v.elements {
		switch {
		case e.mark && unordered, v.comesBehind(e, s.text):
		case a.loose && e.artifact:
			a.threads[1] = append(a.threads[1], e)
		default:
			a.place[e] = len(a.threads[0])
			a.threads[0] = append(a.threads[0], e)
		}
	}
	return a
}

// unordered reports whether calls and thoughts need not come in their order with the text.
func (v *turnView) unordered() bool {
	return v.disturbed() || v.excuse("marks: an answer, and the task is looked at", v.answeredAndLooked())
}

func (v *turnView) answeredAndLooked() bool {
	return v.asked() && slices.ContainsFunc(v.heard, func(h *Heard) bool { return h.Kind == HeardRead })
}

// gap reports whether a reported gap excuses a missing element: the gap follows the
// loss of the element's connection, and precedes what is shown after the element.
func (a *aligner) gap(e *element, place int) bool {
	var lost time.Duration
	for _, at := range a.losses {
		if at <= e.said.At {
			lost = max(lost, at)
		}
	}
	return slices.ContainsFunc(a.screen.gaps, func(g gap) bool { return g.at >= lost && (a.loose || g.place <= place) })
}

// missing is the cost of a missing element.
func (a *aligner) missing(e *element, place int) int {
	switch {
	case e.optional || a.partial:
		return 0
	case e.said.Arrived && (a.excused || a.gap(e, place)):
		return costHad
	case a.excused || a.gap(e, place):
		return costExcused
	}
	return costMissing
}

// cost is the least cost of the rest: elements from i and j on, text from at on. extra:
// nobody said the text before it.
func (a *aligner) cost(p position) int {
	if p.i == len(a.threads[0]) && p.j == len(a.threads[1]) && p.at == len(a.screen.text) {
		return 0
	}
	if c, ok := a.memo[p]; ok {
		return c
	}
	best := noWay
	a.steps(p, func(s step) {
		best = min(best, s.cost+a.cost(s.to))
	})
	a.memo[p] = best
	return best
}

// begins are the letters that words begin with.
const begins = "wx" + repeating

// A position is the progress of an alignment. extra: nobody said the last character.
type position struct {
	i, j, at int
	extra    bool
}

// A step is a possible next step: an element is shown by its text number which, or is
// missing (-1), or nobody said the next character.
type step struct {
	cost    int
	to      position
	element *element
	which   int
}

func (a *aligner) steps(p position, yield func(step)) {
	for thread, n := range [2]int{p.i, p.j} {
		if n == len(a.threads[thread]) {
			continue
		}
		e := a.threads[thread][n]
		to := position{p.i + 1 - thread, p.j + thread, p.at, false}
		for which, text := range e.texts() {
			if which > 0 && thread == 1 && e.lost == nil && !e.again[which-1].artifact && a.place[e.again[which-1]] >= p.i {
				continue // its earlier text comes later
			}
			if strings.HasPrefix(a.screen.text[p.at:], text) {
				to.at = p.at + len(text)
				cost := e.cost(which)
				if (e.anew || e.replaces != nil) && (e.lost == nil || which == 0) && a.screen.first[a.screen.message(p.at)] < p.at {
					cost += costSame
				}
				yield(step{cost, to, e, which})
			}
		}
		if rest := a.screen.text[p.at:]; a.partial && rest != "" && len(rest) < len(e.text) && strings.HasPrefix(e.text, rest) {
			yield(step{e.cost(0), position{to.i, to.j, len(a.screen.text), false}, e, 0}) // the editor has ended in the middle of it
		}
		to.at, to.extra = p.at, p.extra
		yield(step{a.missing(e, p.at), to, e, -1})
	}
	if p.at < len(a.screen.text) {
		cost := costChar
		if !p.extra {
			cost += costExtra
			if !strings.ContainsRune(begins, rune(a.screen.text[p.at])) {
				cost += costWithin
			}
		}
		yield(step{cost, position{p.i, p.j, p.at + 1, true}, nil, 0})
	}
}

// cost is the cost of one of the element's texts.
func (e *element) cost(which int) int {
	switch {
	case which > 0:
		return costEnd + which
	case e.again != nil:
		return costWhole
	}
	return 0
}

// align notes which elements are shown, and returns the text that nobody said.
func (a *aligner) align() (extras []string) {
	if a.simple() {
		return nil
	}
	p := position{}
	for p.i < len(a.threads[0]) || p.j < len(a.threads[1]) || p.at < len(a.screen.text) {
		best, done := a.cost(p), false
		from := p
		a.steps(from, func(s step) {
			if done || s.cost+a.cost(s.to) != best {
				return
			}
			done, p = true, s.to
			switch e := s.element; {
			case e == nil && !from.extra:
				extras = append(extras, a.screen.text[from.at:from.at+1])
			case e == nil:
				extras[len(extras)-1] += a.screen.text[from.at : from.at+1]
			case s.which >= 0:
				e.shown, e.from, e.id = true, s.which, a.screen.message(from.at)
			default:
				e.excused = a.gap(e, from.at)
			}
		})
	}
	return extras
}

// simple is align for the usual case, in which exactly the expected text is shown;
// false otherwise.
func (a *aligner) simple() bool {
	rest := a.screen.text
	for _, e := range a.threads[0] {
		if e.optional {
			continue
		}
		if !strings.HasPrefix(rest, e.text) || e.replaces != nil {
			return false
		}
		rest = rest[len(e.text):]
	}
	if rest != "" || len(a.threads[1]) > 0 {
		return false
	}
	at := 0
	for _, e := range a.threads[0] {
		if !e.optional {
			e.shown, e.id = true, a.screen.message(at)
			at += len(e.text)
		}
	}
	return true
}

package world

import (
	"slices"
	"strings"
)

// An element is a piece of what the user must see, in its order.
type element struct {
	text string
	said *Said
	// optional: it need not be shown. gone: other text has replaced it. anew: if it is
	// shown, then in a message of its own.
	optional, gone, anew bool
	// again: it repeats these elements, and only what is missing of them is shown: all of
	// it, or its end, which then begins with one of them.
	again []*element
	// replaces are the elements that this one replaces.
	replaces []*element
	// lost are those of them of which only the first may have been shown: then its end may be,
	// behind those with which it begins. See beginsWith.
	lost     []*element
	mark     bool // not text, but the place of a call or a thought
	artifact bool
	// shrinks: an artifact is replaced by its beginning or a part of it. A client that
	// missed that cannot distinguish it from an agent that holds less than it has said.
	shrinks bool

	// The result: whether it or a repetition was shown, in which message, and, for a
	// repetition, from which element on; whether a gap was reported in its place.
	shown, told bool
	excused     bool
	id          string
	from        int
}

// texts are the texts by which an element may be shown: its whole, or its ends.
func (e *element) texts() []string {
	list := []string{e.text}
	if e.anew {
		return list
	}
	if n := beginsWith(e.text, e.lost); n > 0 {
		end := e.text
		for _, old := range e.lost[:n] {
			end = strings.TrimPrefix(end, old.text)
			list = append(list, end)
		}
		return list
	}
	for i := 1; i < len(e.again); i++ {
		end := ""
		for _, part := range e.again[i:] {
			end += part.text
		}
		list = append(list, end)
	}
	return list
}

// content is the content of an artifact.
type content struct {
	text     string
	turn     int
	elements []*element
}

// meanings makes the elements of all turns, in the order of the conversation.
func (j *judge) meanings() {
	artifacts := map[string]*content{}
	for _, v := range j.turns {
		answers := map[string][]*element{}
		for _, s := range v.said {
			switch {
			case s.Call != nil:
				v.announce(s)
			case s.Act != nil && s.Act.Kind == Ask:
				for _, c := range s.Act.Calls {
					v.announce(&Said{Call: c, At: s.At, Arrived: s.Arrived})
				}
			case s.Act != nil && s.Act.Kind == Think:
				v.add(&element{text: mark(s.Text), mark: true, said: s})
			case s.Whole && (s.Ends || s.ID == "" || artifacts[s.Task+" "+s.ID] == nil):
				v.repeat(s, answers)
				if !s.Ends {
					artifacts[s.Task+" "+s.ID] = &content{text: strip(s.Text), turn: v.turn.N}
				}
			case s.Ends && s.Text != "" && v.turn.End.State == Rejected:
				v.add(&element{text: strip(s.Text), said: s})
			case s.Ends && v.turn.End.State == Failed || strip(s.Text) == "":
			case s.Carrier == InArtifact:
				v.artifact(s, artifacts, answers)
			default:
				e := v.add(&element{text: strip(s.Text), said: s})
				answers[s.Answer] = append(answers[s.Answer], e)
			}
		}
	}
}

// mark stands in a text for something that is no text.
func mark(name string) string { return "<" + name + ">" }

func (v *turnView) add(e *element) *element {
	if e.said != nil && (v.rec.Cancelled > 0 && e.said.At >= v.rec.Cancelled || v.excuse("text: behind a rejecting cancel", v.refused() && e.said.At >= v.cancelHeard())) {
		e.optional = true
	}
	v.elements = append(v.elements, e)
	return e
}

// announce adds the first mention of a call.
func (v *turnView) announce(s *Said) {
	m := mark(s.Call.Name)
	for _, other := range v.judge.turns {
		for _, e := range other.elements {
			if e.text == m {
				return
			}
		}
	}
	v.add(&element{text: m, mark: true, said: s})
}

// repeat adds a repeated answer.
func (v *turnView) repeat(s *Said, answers map[string][]*element) {
	e := &element{text: strip(s.Text), said: s, optional: true, artifact: s.Carrier == InArtifact}
	list := answers[s.Answer]
	if s.Ends { // it may be several answers
		list = nil
		for _, a := range v.turn.Acts {
			if a.Kind == Again && a.Manner == WholeAtEnd {
				list = append(list, answers[a.Answer]...)
			}
		}
	}
	for _, part := range list {
		if !part.anew && !part.gone {
			e.again = append(e.again, part)
		}
	}
	v.add(e)
}

// artifact adds an artifact update: more text, or other text.
func (v *turnView) artifact(s *Said, artifacts map[string]*content, answers map[string][]*element) {
	key := s.Task + " " + s.ID
	old, text := artifacts[key], strip(s.Text)
	e := &element{text: text, said: s, artifact: true}
	unseen := v.disturbed() || slices.ContainsFunc(v.heard, func(h *Heard) bool { return h.Kind == HeardAnswer && h.At <= s.At })
	switch {
	case old == nil || !s.Follows && old.turn != v.turn.N &&
		!v.excuse("text: an artifact is replaced by a repetition and more", v.disturbed() && strings.ContainsAny(old.text, repeating) && strings.HasPrefix(text, old.text) && text != old.text):
		e.shrinks = old != nil && strings.Contains(old.text, text) && v.excuse("text: an artifact shrinks", unseen)
		artifacts[key] = &content{text: text, turn: v.turn.N}
	case s.Follows:
		if old.turn != v.turn.N {
			old.turn, old.elements = v.turn.N, nil
		}
		old.text += text
	case text == old.text:
		e.optional, e.anew, e.again = true, true, old.elements
		v.add(e)
		return
	case strings.HasPrefix(text, old.text):
		// The rest of it, or all of it anew.
		v.add(&element{text: old.text, said: s, optional: true, anew: true, artifact: true, replaces: old.elements})
		e.text = strings.TrimPrefix(text, old.text)
		old.text, old.turn = text, v.turn.N
	default:
		e.shrinks = v.excuse("text: an artifact shrinks", strings.Contains(old.text, text) && unseen)
		e.optional = e.shrinks || v.excuse("text: an artifact is replaced by a repetition", strings.ContainsAny(text, repeating) && strings.Contains(old.text, text))
		for _, gone := range old.elements {
			gone.optional, gone.gone = true, true
		}
		e.replaces = old.elements
		if v.disturbed() && beginsWith(text, old.elements) > 0 {
			e.lost = old.elements
		}
		artifacts[key] = &content{text: text, turn: v.turn.N}
	}
	v.add(e)
	now := artifacts[key]
	now.elements = append(now.elements, e)
	answers[s.Answer] = append(answers[s.Answer], e)
}

// beginsWith is how many of the texts that a text replaces it begins with. It does not
// begin with all of them.
func beginsWith(text string, old []*element) int {
	for i, e := range old {
		rest, ok := strings.CutPrefix(text, e.text)
		if !ok {
			return i
		}
		text = rest
	}
	return len(old)
}

// judgeGrown: where only the end of a text is shown that replaces others, it looks as if the
// artifact has grown. So what it does not begin with must not have been shown.
func (v *turnView) judgeGrown(shown string) {
	for _, e := range v.elements {
		if !e.shown || e.from == 0 || e.lost == nil {
			continue
		}
		v.excuse("text: an artifact is replaced by what was shown of it and more", true)
		others := strings.Replace(shown, e.texts()[e.from], "", 1)
		for _, old := range e.lost[e.from:] {
			if strings.Contains(others, old.text) && !strings.ContainsAny(old.text, repeating) {
				v.wrong("a whole is shown again though its parts were", "%q behind %q", e.text, old.text)
			}
		}
	}
}

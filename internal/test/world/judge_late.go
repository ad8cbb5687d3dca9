package world

import (
	"slices"
	"strings"
)

// isLate reports whether another turn's text may be shown in this one.
func (v *turnView) isLate(other *turnView, text string) bool {
	of := func(is func(e *element) bool) bool {
		rest := text
		for _, e := range other.elements {
			if is(e) {
				rest = strings.TrimPrefix(rest, e.text)
			}
		}
		return rest == ""
	}
	return v.excuse("late: owed by another turn", other.owes(text)) ||
		v.excuse("late: of a turn that failed", other.disturbed() && other.rec.Err != "") ||
		v.excuse("late: a whole of a turn in which the bridge was killed", other.rec.Killed > 0 && of(func(e *element) bool { return e.again != nil || other.owes(e.text) })) ||
		v.excuse("late: an artifact that was replaced while the bridge was down", other.rec.Killed > 0 && other.replacedText(text)) ||
		v.excuse("late: a part of a whole, replayed behind a gap", v.plan.Agent.Resume == ResumesReplay && v.plan.Agent.Holds != HoldsAll && other.disturbed() && of(func(e *element) bool { return other.inWhole(e) || other.owes(e.text) })) ||
		v.excuse("late: pushed in another order, and no tasks/get", other.pushedBlind() && (!strings.Contains(screenOf(other.rec.Shown, false).text, text) || other.disordered(text))) ||
		v.excuse("late: a whole of which a part was lost", of(func(e *element) bool { return other.lacksPart(e) || other.owes(e.text) })) ||
		v.excuse("late: said by a whole alone", of(func(e *element) bool { return e.told && !e.shown })) ||
		v.excuse("late: of words that repeat, and were lost", (other.rec.Killed > 0 || other.disturbed()) && strings.ContainsAny(text, repeating))
}

// disordered reports whether a part of a text was shown before what the agent had said before it.
func (v *turnView) disordered(text string) bool {
	shown := screenOf(v.rec.Shown, false).text
	for i, e := range v.elements {
		before := slices.ContainsFunc(v.elements[i+1:], func(later *element) bool {
			at := strings.Index(shown, later.text)
			return !e.mark && !later.mark && strings.Contains(text, later.text) && at >= 0 && at < strings.Index(shown, e.text)
		})
		if before {
			return true
		}
	}
	return false
}

// lacksPart reports whether an element is a whole of which a part was not shown.
func (v *turnView) lacksPart(e *element) bool {
	return slices.ContainsFunc(e.again, func(part *element) bool { return !part.shown })
}

// replacedText reports whether a text is of an artifact that was replaced in the turn, in its
// old state or in the new one. A journal does not tell which of them was shown last.
func (v *turnView) replacedText(text string) bool {
	whole := text
	for _, e := range v.elements {
		for _, old := range e.replaces {
			text = strings.Replace(text, old.text, "", 1)
		}
		if len(e.replaces) > 0 || e.artifact {
			text = strings.Replace(text, e.text, "", 1)
		}
	}
	return slices.ContainsFunc(v.elements, func(e *element) bool { return len(e.replaces) > 0 && (text == "" || e.text == whole) })
}

// comesBehind reports whether a text of a silent stream that was left is shown behind what was
// said after it: it has come late, from the task, and has no place among the others.
func (v *turnView) comesBehind(e *element, shown string) bool {
	at := strings.Index(shown, e.text)
	return at > 0 && !e.mark && !strings.ContainsAny(e.text, repeating) && v.leftSilent(e) && slices.ContainsFunc(v.elements, func(o *element) bool {
		return !o.mark && o.said.At > e.said.At && !v.leftSilent(o) && strings.Contains(shown[:at], o.text)
	})
}

// inWhole reports whether an element was said again by a whole.
func (v *turnView) inWhole(e *element) bool {
	return slices.ContainsFunc(v.elements, func(whole *element) bool { return slices.Contains(whole.again, e) })
}

// shrunkFrom reports whether a text is that of an artifact that has shrunk, now, or before: then
// in one event or several.
func (v *turnView) shrunkFrom(text string) bool {
	return slices.ContainsFunc(v.elements, func(e *element) bool {
		if !e.shrinks || e.text == text {
			return e.shrinks
		}
		rest := text
		for _, old := range e.replaces {
			rest = strings.Replace(rest, old.text, "", 1)
		}
		return rest == ""
	})
}

// byTurn splits a text into pieces that are each of one turn, as few as can be; nil: it has
// none.
func (v *turnView) byTurn(text string) []string {
	for i := len(text); i > 0; i-- {
		within := i < len(text) && !strings.Contains(begins, text[i:i+1]) // a word would be cut
		if within || !slices.ContainsFunc(v.judge.turns, func(other *turnView) bool { return other.madeOf(text[:i]) }) {
			continue
		}
		if i == len(text) {
			return []string{text}
		}
		if rest := v.byTurn(text[i:]); rest != nil {
			return append([]string{text[:i]}, rest...)
		}
	}
	return nil
}

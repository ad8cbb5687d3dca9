package world

import (
	"fmt"
	"slices"
	"strings"
)

// repeated are answers that repeat themselves and each other.
var repeated = [][]string{{"Yes."}, {"Yes."}, {"ha", "ha"}, {"ha", "haha"}, {"ok", " ok"}, {"Yes.", " Yes."}, {"ok"}}

// words draws the chunks of an answer: tokens that are unique in the world, or
// words that repeat.
//
// A whole that equals the end of the earlier text, or begins with all of it, looks like
// a repetition if it comes in one piece (README, "ok"). So only the first answer of a
// turn, and status messages, have repeating words.
func (g *generator) words(t *Turn, answer int, c Carrier) []string {
	if g.maybe(Repeats, 50, t.N, answer) && (answer == 0 || c == InStatus) {
		return pick(g.draw("repeated", t.N, answer), repeated...)
	}
	d := g.draw("words", t.N, answer)
	n, end := 1+d.IntN(4), pick(d, " ", " ", ".", "\n", "")
	list := make([]string, n)
	for i := range list {
		list[i] = token('w', t.N, answer, i) + end
		if g.On.Has(Long) {
			list[i] = strings.Repeat(token('w', t.N, answer, i)+"-", 1+d.IntN(30)) + list[i]
		}
	}
	return list
}

// other is a text of the same length with another end.
func other(text string) string { return text[:len(text)-1] + "!" }

// token is a word that is no part of another: four letters each.
func token(kind rune, turn, answer, n int) string {
	return fmt.Sprintf("%c%d%c%d", kind, turn, 'a'+answer, n)
}

func (g *generator) carrierOf(t *Turn, answer int) Carrier {
	c := InStatus
	if g.On.Has(Artifacts) {
		c = InArtifact
	}
	if g.On.Has(Mixed) {
		c = pick(g.draw("carrier", t.N, answer), InStatus, InArtifact)
	}
	return c
}

// direct is the pass for a turn with a message as its answer.
func (g *generator) direct(t *Turn) {
	t.End.State = ""
	label := fmt.Sprintf("%ds0", t.N)
	t.Acts = []*Act{{Label: label + ".0", Kind: Say, Answer: label, Carrier: InMessage, Wait: g.wait("say", t.N, 0, 0),
		Text: strings.Join(g.words(t, 0, InMessage), "")}}
}

// answers is the first pass: the agent's answers.
func (g *generator) answers(t *Turn) {
	for answer := range pick(g.draw("answers", t.N), 0, 1, 1, 1, 2, 2, 3) {
		label := fmt.Sprintf("%ds%d", t.N, answer)
		c := g.carrierOf(t, answer)
		grows := c == InArtifact && g.maybe(Grows, 60, t.N, answer)
		chunk := 0
		say := func(text string, replaces bool) {
			t.Acts = append(t.Acts, &Act{Label: fmt.Sprintf("%s.%d", label, chunk), Kind: Say, Answer: label, Carrier: c, Text: text,
				Replaces: replaces, Grows: grows && !replaces, Wait: g.wait("say", t.N, answer, chunk)})
			chunk++
		}
		words := g.words(t, answer, c)
		for _, w := range words {
			say(w, false)
		}
		if c != InArtifact || grows {
			continue
		}
		if len(t.Acts) > chunk && g.On.Has(Constant) && g.maybe(Replaces, 40, t.N, answer, 1) {
			t.Acts[len(t.Acts)-chunk].Replaces = true // the answer before it is replaced
		}
		if g.maybe(Replaces, 50, t.N, answer) {
			switch d := g.draw("replacement", t.N, answer); {
			case len(words) > 1 && chance(d, 40):
				say(words[0], true) // only its beginning
			case g.On.Has(Long) && chance(d, 60):
				say(other(strings.Join(words, "")), true)
			default:
				say(token('x', t.N, answer, 0)+" ", true)
				if chance(d, 50) {
					say(token('x', t.N, answer, 1)+" ", false)
				}
			}
		}
		if d := g.draw("last chunk", t.N, answer); chance(d, 50) {
			t.Acts[len(t.Acts)-1].Last = true
		}
	}
}

// wholes is the pass for repeated answers.
func (g *generator) wholes(t *Turn) {
	if !g.On.Has(Wholes) {
		return
	}
	var answers []string
	for _, a := range t.Acts {
		if !slices.Contains(answers, a.Answer) {
			answers = append(answers, a.Answer)
		}
	}
	for i, answer := range answers {
		d := g.draw("whole", t.N, i)
		at := len(t.Acts) - 1
		for ; t.Acts[at].Answer != answer; at-- {
		}
		last := i == len(answers)-1
		if !chance(d, 70) {
			continue
		}
		m := WholeNewArtifact
		switch {
		case last && chance(d, 50):
			m, at = WholeAtEnd, len(t.Acts)-1
		case t.Acts[at].Carrier == InArtifact && !g.On.Has(Constant) && chance(d, 50):
			m = WholeSameArtifact
		case g.On.Has(Constant) && t.Acts[at].Carrier == InArtifact:
			continue // the other artifact would have the same ID
		}
		whole := &Act{Label: fmt.Sprintf("%dw%d", t.N, i), Kind: Again, Answer: answer, Manner: m, Wait: g.wait("whole", t.N, i)}
		t.Acts = slices.Insert(t.Acts, at+1, whole)
	}
}

func (g *generator) thoughts(t *Turn) {
	if !g.maybe(Thoughts, 60, t.N) {
		return
	}
	for i := range 1 + g.draw("thoughts", t.N).IntN(2) {
		a := &Act{Label: fmt.Sprintf("%dt%d", t.N, i), Kind: Think, Text: token('t', t.N, 0, i), Wait: g.wait("think", t.N, i)}
		g.insert(t, 0, []*Act{a}, "think", t.N, i)
	}
}

// noise is the pass for events without content.
func (g *generator) noise(t *Turn) {
	if !g.On.Has(Noises) {
		return
	}
	for i := range g.draw("noises", t.N).IntN(3) {
		a := &Act{Label: fmt.Sprintf("%dn%d", t.N, i), Kind: Murmur, Wait: g.wait("noise", t.N, i),
			Noise: pick(g.draw("noise", t.N, i), NoiseState, NoiseEcho, NoiseEmpty, NoiseBlank)}
		g.insert(t, 0, []*Act{a}, "noise", t.N, i)
	}
}

// snapshots is the pass for tasks in the middle of the stream.
func (g *generator) snapshots(t *Turn) {
	if !g.On.Has(Snapshots) {
		return
	}
	for i := range 1 + g.draw("snapshots", t.N).IntN(2) {
		a := &Act{Label: fmt.Sprintf("%dz%d", t.N, i), Kind: Show, Wait: g.wait("snapshot", t.N, i)}
		g.insert(t, 0, []*Act{a}, "snapshot", t.N, i)
	}
}

// ending is the pass for the turn's end.
func (g *generator) ending(t *Turn) {
	switch {
	case g.maybe(Prose, 50, t.N):
		t.End.State = InputRequired
	case g.maybe(Fails, 50, t.N):
		d := g.draw("failure", t.N)
		if t.End.State = pick(d, Failed, Rejected, Canceled, AuthRequired); t.End.State == AuthRequired {
			// It continues by itself, and ends well.
			t.End.State = Completed
			a := &Act{Label: fmt.Sprintf("%dl0", t.N), Kind: WantsAuth, Wait: g.wait("auth", t.N)}
			g.insert(t, 0, []*Act{a}, "auth", t.N)
		} else if t.End.State != Canceled && chance(d, 80) {
			t.End.Reason = token('r', t.N, 0, 0)
		}
	}
	if t.End.State != Completed {
		t.Acts = slices.DeleteFunc(t.Acts, func(a *Act) bool { return a.Kind == Again && a.Manner == WholeAtEnd })
	}
}

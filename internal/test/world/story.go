package world

import (
	"fmt"
	"strings"
)

// Tell tells the story of a played world: the plan, both wires, and the violations.
// raw: with all lines of the wires.
func Tell(p *Plan, r *Record, found []Violation, raw bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "world %s: %s\n", p.Replay, featureNames(p.On))
	for _, t := range p.Turns {
		for _, f := range t.Faults {
			fmt.Fprintf(&b, "planned in turn %d: %s: %s\n", t.N, f.Label, f)
		}
	}
	for _, l := range r.Story {
		text, ok := l.Text, true
		if !raw {
			text, ok = retell(l)
		}
		if ok {
			fmt.Fprintf(&b, "%9.3f %-7s %s\n", l.At.Seconds(), l.Who, text)
		}
	}
	for _, v := range found {
		fmt.Fprintf(&b, "WRONG: %s\n", v)
	}
	return b.String()
}

func featureNames(m Mask) string {
	var names []string
	for _, f := range m.Features() {
		names = append(names, f.String())
	}
	return strings.Join(names, " ")
}

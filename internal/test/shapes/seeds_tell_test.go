package shapes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Tell is what happened in a world, line by line.
func Tell(p *Plan, r *Played) string {
	type line struct {
		at   time.Time
		text string
	}
	var all []line
	for _, s := range r.Said {
		what := fmt.Sprintf("agent   turn %d says %s", s.Turn, s.State)
		if m := s.Step.Message; m != nil {
			what += fmt.Sprintf(" message %s %.80v", m.ID, m.Parts)
		}
		if a := s.Step.Artifact; a != nil {
			what += fmt.Sprintf(" artifact %s %.80v", a.ID, a.Parts)
		}
		if s.Step.Waits {
			what += fmt.Sprint(" and waits for ", s.Step.Asks)
		}
		all = append(all, line{s.At, what})
	}
	for _, h := range r.Heard {
		all = append(all, line{h.At, fmt.Sprintf("agent   hears %s %s %v %d", h.Method, h.Task, h.Answers, h.Refused)})
	}
	for n, t := range r.Turns {
		all = append(all, line{t.Began, fmt.Sprintf("editor  turn %d, faults %v, act %v", n, p.Turns[n].Faults, p.Turns[n].Act)})
		for _, s := range t.Shown {
			all = append(all, line{s.At, fmt.Sprintf("editor  is shown %d %s %.80q %v", s.Kind, s.ID, s.Text, s.Picked)})
		}
		all = append(all, line{t.Ended, fmt.Sprintf("editor  turn %d ends: %s %s", n, t.Stop, t.Err)})
	}
	for _, s := range r.Loaded {
		all = append(all, line{s.At, fmt.Sprintf("editor  loads %d %s %.80q", s.Kind, s.ID, s.Text)})
	}
	slices.SortStableFunc(all, func(a, b line) int { return a.at.Compare(b.at) })
	var b strings.Builder
	for _, l := range all {
		fmt.Fprintf(&b, "%10v %s\n", cmp.Or(l.at.Sub(r.Turns[0].Began), 0), l.text)
	}
	return b.String()
}

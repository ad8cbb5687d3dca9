package world

import "slices"

// Shrink makes a failing world as small as possible: it removes features, turns, acts
// and faults, one at a time, as long as the rest still fails.
func Shrink(r Replay, fails func(Replay) bool) Replay {
	for {
		smaller, ok := shrinkOnce(r, fails)
		if !ok {
			return r
		}
		r = smaller
	}
}

// shrinkOnce tries each removal once.
func shrinkOnce(r Replay, fails func(Replay) bool) (smaller Replay, ok bool) {
	for _, f := range r.On.Features() {
		if !r.On.Has(f) {
			continue
		}
		less := r
		less.On &^= 1 << f
		if fails(less) {
			r, ok = less, true
		}
	}
	for _, label := range Generate(r).labels() {
		less := r
		less.Removed = append(slices.Clone(r.Removed), label)
		if !less.bigger(r) && fails(less) {
			r, ok = less, true
		}
	}
	r.Removed = needed(r)
	return r, ok
}

// bigger reports whether a removal had no effect.
func (r Replay) bigger(than Replay) bool {
	return len(Generate(r).labels()) >= len(Generate(than).labels())
}

// needed returns the labels that are not part of another one.
func needed(r Replay) (list []string) {
	for i, label := range r.Removed {
		rest := r
		rest.Removed = slices.Delete(slices.Clone(r.Removed), i, i+1)
		if !rest.removed(label) {
			list = append(list, label)
		}
	}
	return list
}

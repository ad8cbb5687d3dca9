package mapping

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// maxSeen is how many events of a task are remembered, to know them again. A
	// task that has said more is looked up instead.
	maxSeen = 1 << 13
	// certain is how many events in a row, from the beginning, make it certain that an
	// agent repeats its events. Until then they are held back: some agents go on with
	// an event that equals the task's first by chance.
	certain = 16
)

// A Seen remembers the events of a task, as hashes. A2A leaves open what a subscription
// begins with, and some agents begin with all that the task has said. A [Repetition] of the
// Seen tells such events from new ones. The zero value is ready.
type Seen struct {
	seed   maphash.Seed
	task   string
	hashes []uint64
	legs   []int // where the answers to messages begin
	// tasks are the tasks that streams of answers have begun with: agents repeat them, or
	// not.
	tasks []int
	full  bool
	anew  bool // see Anew
	// repeated: the stream in hand has repeated all that was seen.
	repeated bool
}

// Leg notes that what follows answers another message: an agent may repeat from there.
func (s *Seen) Leg() {
	if s.seed == (maphash.Seed{}) {
		s.seed = maphash.MakeSeed()
	}
	if n := len(s.legs); n == 0 || s.legs[n-1] != len(s.hashes) {
		s.legs = append(s.legs, len(s.hashes))
	}
}

// Note notes an event.
func (s *Seen) Note(ev *a2a.Event) {
	if ev.TaskID != "" && ev.TaskID != s.task {
		*s = Seen{seed: s.seed, task: strings.Clone(ev.TaskID), legs: []int{0}}
	}
	if s.full = s.full || len(s.hashes) == maxSeen; s.full {
		return
	}
	if n := len(s.hashes); ev.Kind == a2a.EventTask && n > 0 && len(s.legs) > 0 && s.legs[len(s.legs)-1] == n {
		s.tasks = append(s.tasks, n)
	}
	s.hashes = append(s.hashes, maphash.String(s.seed, string(ev.Raw)))
}

// A Repetition compares the events of subscriptions with those that were seen before, one
// subscription after the other. [Repetition.Begin] is called for each, and [Repetition.Next]
// for each of its events.
type Repetition struct {
	seed   maphash.Seed
	hashes []uint64
	legs   []int
	tasks  []int
	at     []int // the places that the next event may be at
	n      int   // how many were known again
	ended  bool  // the newest may have been the last
	said   bool  // one of them holds more than a state, which may come twice
	anew   bool
}

// Repetition returns what was seen so far, to compare subscriptions with. It is nil if not
// all of that is known. What is noted later does not change it.
func (s *Seen) Repetition() *Repetition {
	if s.repeated = false; s.full {
		return nil
	}
	return &Repetition{seed: s.seed, hashes: s.hashes[:len(s.hashes):len(s.hashes)], legs: slices.Clone(s.legs), tasks: slices.Clone(s.tasks), anew: s.anew}
}

// Fresh reports whether nothing was seen since the newest message to the agent was sent: all
// that was seen is older.
func (r *Repetition) Fresh() bool { return len(r.legs) > 0 && r.legs[len(r.legs)-1] == len(r.hashes) }

// Begin begins the comparison, for another subscription.
func (r *Repetition) Begin() {
	r.at, r.n, r.ended, r.said = append(r.at[:0], r.legs...), 0, false, false
}

// Known says what an event of a subscription is.
type Known uint8

// What an event may be.
const (
	KnownNot     Known = iota // it is new
	KnownPerhaps              // it may be one that was seen: the next events tell
	KnownAgain                // it was seen
	KnownLast                 // it is the last that was seen
	KnownBefore               // it is new, and the one before it was the last that was seen
)

// Next says what the next event of the subscription is. After KnownNot, KnownLast and
// KnownBefore all that follows is new.
func (r *Repetition) Next(ev *a2a.Event) Known {
	sum := maphash.String(r.seed, string(ev.Raw))
	at := r.at
	for _, p := range at {
		if slices.Contains(r.tasks, p) {
			at = append(at, p+1)
		}
	}
	goOn, ended, before := r.at[:0], false, r.ended
	for _, at := range at {
		switch {
		case at >= len(r.hashes) || r.hashes[at] != sum:
		case at+1 == len(r.hashes):
			ended = true
		default:
			goOn = append(goOn, at+1)
			ended = ended || at+2 == len(r.hashes) && slices.Contains(r.tasks, at+1)
		}
	}
	r.said = r.said || ev.HasMessage || ev.Kind != a2a.EventStatus
	r.at, r.ended = goOn, ended && r.said && !(r.anew && r.n == 0) // each replay begins with that event
	switch r.n++; {
	case len(goOn) == 0 && r.ended:
		return KnownLast
	case len(goOn) == 0 && before:
		return KnownBefore
	case len(goOn) == 0:
		return KnownNot
	case r.n >= certain:
		return KnownAgain
	}
	return KnownPerhaps
}

// Repeated notes that a stream has repeated all that was seen: what follows on it goes on from
// that.
func (s *Seen) Repeated() { s.repeated = true }

// Anew notes that a stream begins of which it is not known how it goes on from what was
// seen: a later one may repeat it.
func (s *Seen) Anew() {
	if !s.repeated {
		*s = Seen{seed: s.seed, task: s.task, legs: []int{0}, anew: true}
	}
}

// Lose notes that something was said of a task that was not seen: its later events cannot be
// compared any more.
func (s *Seen) Lose(taskID string) {
	if taskID != s.task {
		*s = Seen{seed: s.seed, task: strings.Clone(taskID), legs: []int{0}}
	}
	s.full = true
}

package mapping

import (
	"flag"
	"fmt"
	"runtime"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// many are events that each have an ID of their own.
func many() map[string]func(i int) *a2a.Event {
	id := func(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }
	message := func(i int, data bool) *a2a.Event {
		ev := dataEvent(fmt.Sprintf(`{"row":%d}`, i))
		ev.Message.ID = id(i)
		if !data {
			ev.Message.Parts = onlyText(fmt.Sprintf("%x %d is a note.\n", markSum(id(i)), i))
		}
		return ev
	}
	artifact := func(i int) *a2a.Event {
		return &a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Append: true, Artifact: a2a.Artifact{ID: id(i), Parts: onlyText(fmt.Sprintf("%x %d is a file.\n", markSum(id(i)), i))}}
	}
	return map[string]func(i int) *a2a.Event{
		"messages":  func(i int) *a2a.Event { return message(i, false) },
		"parts":     func(i int) *a2a.Event { return message(i, true) },
		"artifacts": artifact,
		"calls":     func(i int) *a2a.Event { return callEvent(id(i), "success", "") },
		"open":      func(i int) *a2a.Event { return callEvent(id(i), "executing", "") },
		"questions": func(i int) *a2a.Event {
			return callEvent(id(i), "awaiting_approval", `,"confirmationDetails":{"type":"exec","command":"ls"}`)
		},
		"parts of one message": func(i int) *a2a.Event { return dataEvent(fmt.Sprintf(`{"row":%d}`, i)) },
	}
}

// TestFoldMany: a Fold keeps few bytes for an ID, however many there are.
func TestFoldMany(t *testing.T) {
	for name, event := range many() {
		t.Run(name, func(t *testing.T) {
			fold, n := speaking(), *manyIDs
			before := heap()
			var steps []Step
			for i := range n {
				steps = fold.Event(event(i), steps[:0])
			}
			clear(steps[:cap(steps)])
			kept := heap() - before
			t.Logf("%d bytes each, %d KiB in all", kept/n, kept>>10)
			if most := 3<<20 + 100*n; kept > most { // the first: of what is kept whole
				t.Errorf("%d KiB are kept, more than %d", kept>>10, most>>10)
			}
			if w := len(fold.texts.kept); w > maxWhole {
				t.Errorf("%d texts are kept whole", w)
			}
			runtime.KeepAlive(fold)
		})
	}
}

// manyIDs is more than maxWhole; 2000000 is more than maxPast, too.
var manyIDs = flag.Int("ids", 20_000, "how many IDs TestFoldMany gives")

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestPast: the older half is dropped, and the newer half stays.
func TestPast(t *testing.T) {
	var p past[struct{}]
	for i := range uint64(2 * maxPast) {
		if !p.once(i) {
			t.Fatalf("%d is known", i)
		}
		if i >= maxPast/2 {
			if _, ok := p.get(i - maxPast/2 + 1); !ok {
				t.Fatalf("%d is forgotten by %d", i-maxPast/2+1, i)
			}
		}
		if n := len(p.newer) + len(p.older); n > maxPast {
			t.Fatalf("%d are known", n)
		}
	}
}

// TestFoldManyOnce: text of long ago that comes again is not shown twice: in a snapshot,
// or in events that a snapshot held.
func TestFoldManyOnce(t *testing.T) {
	const n = 3 * maxWhole
	for name, event := range many() {
		if name == "questions" { // of which there are not so many
			continue
		}
		for _, turns := range []int{1, 2} {
			t.Run(fmt.Sprint(name, turns), func(t *testing.T) {
				fold := speaking()
				fold.Begin("t")
				for i := range n {
					if steps := fold.Event(event(i), nil); len(steps) == 0 {
						t.Fatalf("%d is not shown", i)
					}
				}
				if turns == 2 {
					fold.EndTurn(false, false, nil)
					fold.Begin("t")
				}
				fold.Event(&a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: a2a.StateWorking}, nil)
				if steps := fold.Event(holding(event, n), nil); len(steps) > 0 {
					t.Fatalf("the snapshot gives %d steps, first %+v", len(steps), steps[0])
				}
				for i := range n {
					if steps := fold.Echo(event(i), nil); len(steps) > 0 {
						t.Fatalf("%d is shown again: %+v", i, steps[0])
					}
				}
				if steps := fold.Event(event(n), nil); len(steps) != 1 || steps[0].Kind == StepConnection {
					t.Errorf("what is new gives %+v", steps)
				}
			})
		}
	}
}

// holding is a snapshot that holds what the first n events have said.
func holding(event func(int) *a2a.Event, n int) *a2a.Event {
	return &a2a.Event{Kind: a2a.EventTask, TaskID: "t", State: a2a.StateWorking,
		History: func(yield func(a2a.Message) bool) {
			for i := range n {
				if ev := event(i); ev.Kind == a2a.EventStatus && !yield(ev.Message) {
					return
				}
			}
		},
		Artifacts: func(yield func(a2a.Artifact) bool) {
			for i := range n {
				if ev := event(i); ev.Kind == a2a.EventArtifact && !yield(ev.Artifact) {
					return
				}
			}
		}}
}

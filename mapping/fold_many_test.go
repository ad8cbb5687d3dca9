package mapping_test

import (
	"flag"
	"fmt"
	"runtime"
	"testing"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// many are events that each have an ID of their own.
func many() map[string]func(i int) *a2a.Event {
	id := func(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }
	message := func(i int, data bool) *a2a.Event {
		ev := dataEvent(fmt.Sprintf(`{"row":%d}`, i))
		ev.Message.ID = id(i)
		if !data {
			ev.Message.Parts = textParts(fmt.Sprintf("%x %d is a note.\n", i*7919, i))
		}
		return ev
	}
	artifact := func(i int) *a2a.Event {
		return &a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Append: true, Artifact: a2a.Artifact{ID: id(i), Parts: textParts(fmt.Sprintf("%x %d is a file.\n", i*7919, i))}}
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
			var steps []mapping.Step
			for i := range n {
				steps = fold.Event(shown.Live, event(i), steps[:0])
			}
			clear(steps[:cap(steps)])
			kept := heap() - before
			t.Logf("%d bytes each, %d KiB in all", kept/n, kept>>10)
			if most := 600 * n; kept > most {
				t.Errorf("%d KiB are kept, more than %d", kept>>10, most>>10)
			}
			runtime.KeepAlive(fold)
		})
	}
}

// manyIDs is more than is kept whole.
var manyIDs = flag.Int("ids", 8_000, "how many IDs TestFoldMany gives")

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestFoldManyOnce: text of long ago is not shown twice if a snapshot holds it.
func TestFoldManyOnce(t *testing.T) {
	const n = 4000
	for name, event := range many() {
		if name == "questions" { // of which there are not so many
			continue
		}
		for _, turns := range []int{1, 2} {
			t.Run(fmt.Sprint(name, turns), func(t *testing.T) {
				fold := speaking()
				fold.Begin("t")
				for i := range n {
					if steps := fold.Event(shown.Live, event(i), nil); len(steps) == 0 {
						t.Fatalf("%d is not shown", i)
					}
				}
				if turns == 2 {
					fold.EndTurn(false, false, nil)
					fold.Begin("t")
				}
				fold.Event(shown.Live, &a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: a2a.StateWorking}, nil)
				if steps := fold.Event(shown.Snapshot, holding(event, n), nil); len(steps) > 0 {
					t.Fatalf("the snapshot gives %d steps, first %+v", len(steps), steps[0])
				}
				if steps := fold.Event(shown.Live, event(n), nil); len(steps) != 1 || steps[0].Kind == mapping.StepConnection {
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

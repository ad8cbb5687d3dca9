package mapping

import (
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestAlignAhead: a look at the task brings more than the events before it. Where the stream
// goes on it brings that, too, once; then a chunk that says the same is another.
func TestAlignAhead(t *testing.T) {
	says := func(kind a2a.EventKind, id, text string) *a2a.Event {
		return &a2a.Event{Kind: kind, TaskID: "t", State: a2a.StateWorking, HasMessage: true,
			Message: a2a.Message{ID: id, Role: a2a.RoleAgent, Parts: textParts(text)}}
	}
	for _, test := range []struct {
		name  string
		ahead bool
		want  string // what three more events "ha" show
	}{
		{"the stream goes on", true, "haha"},
		{"the stream is another", false, "hahaha"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := NewFold()
			f.Begin("t")
			task := says(a2a.EventTask, "m", "ha") // the newest message is all that the agent holds
			shown := textOf(f.Align(task, []a2a.Event{*says(a2a.EventStatus, "other", "one. ")}, test.ahead, nil))
			if shown != "one. ha" {
				t.Fatalf("the look shows %q, want %q", shown, "one. ha")
			}
			more := ""
			for range 3 {
				more += textOf(f.Event(says(a2a.EventStatus, "m", "ha"), nil))
			}
			if more != test.want {
				t.Errorf("then %q, want %q", more, test.want)
			}
		})
	}
}

// TestAssembles: behind a gap a whole is known by the messages that it is made of, in any
// order, each of them once.
func TestAssembles(t *testing.T) {
	var s said
	for _, message := range []string{"two ", "x", "one ", "three"} {
		s.begin(false)
		s.add(message)
	}
	for text, want := range map[string]bool{"one two three": true, "two x": true, "one": true, "two two": false, "one four": false, "on": false, " ": false} {
		if got := s.assembles(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestAlignReplay: a message that was shown, before other text, comes again behind a cut: the
// events are a replay, and bring the rest of an artifact in the messages that it is made of.
func TestAlignReplay(t *testing.T) {
	says := func(id, text string) a2a.Event {
		return a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: a2a.StateWorking, HasMessage: true,
			Message: a2a.Message{ID: id, Role: a2a.RoleAgent, Parts: textParts(text)}}
	}
	task := &a2a.Event{Kind: a2a.EventTask, TaskID: "t", State: a2a.StateWorking, Artifacts: func(yield func(a2a.Artifact) bool) {
		yield(a2a.Artifact{ID: "whole", Parts: textParts("one two ")})
	}}
	f := NewFold()
	f.Begin("t")
	one, two, three := says("m1", "one "), says("m2", "two "), says("m3", "three ")
	shown := textOf(f.Event(&one, nil))
	f.Cut()
	shown += textOf(f.Align(task, []a2a.Event{one}, false, nil))
	f.Cut()
	shown += textOf(f.Align(task, []a2a.Event{one, two, three}, false, nil))
	if shown != "one two three " {
		t.Errorf("shown is %q", shown)
	}
}

// TestWholeBeforeItsParts: an artifact comes before the messages that it is the whole of, since
// they were lost: a replay brings them, or the stream on which a look was ahead of them.
func TestWholeBeforeItsParts(t *testing.T) {
	says := func(id, text string) *a2a.Event {
		return &a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: a2a.StateWorking, HasMessage: true,
			Message: a2a.Message{ID: id, Role: a2a.RoleAgent, Parts: textParts(text)}}
	}
	whole := func(text string) a2a.Artifact { return a2a.Artifact{ID: "whole", Parts: textParts(text)} }
	holds := func(last *a2a.Event, text string) *a2a.Event {
		task := *last
		if task.Kind = a2a.EventTask; text != "" {
			task.Artifacts = seq([]a2a.Artifact{whole(text)})
		}
		return &task
	}
	for _, test := range []struct {
		name string
		do   func(f *Fold, show func(...*a2a.Event))
		want string
	}{
		{"the whole comes on the stream", func(f *Fold, show func(...*a2a.Event)) {
			show(says("1", "one "))
			f.Cut()
			show(holds(says("3", "three "), ""), &a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Artifact: whole("two ")})
			f.Cut()
			f.Again()
			show(says("1", "one "), says("2", "two "), says("3", "three "))
		}, "one three two "},
		{"its first part was shown before", func(f *Fold, show func(...*a2a.Event)) {
			show(says("1", "one "))
			f.Cut()
			show(holds(says("3", "three "), "one two "))
			f.Cut()
			f.Again()
			show(says("1", "one "), says("2", "two "), says("3", "three "), says("4", "two "))
		}, "one two three two "},
		{"its first part ended within a word", func(f *Fold, show func(...*a2a.Event)) {
			show(says("1", "one tw"))
			f.Cut()
			show(holds(says("3", "three "), "one two "))
		}, "one two three "},
		{"its parts are pieces of a message", func(f *Fold, show func(...*a2a.Event)) {
			show(says("1", "one "))
			f.awaits = true
			show(holds(says("1", "one "), "one two three "))
			f.awaits = false
			show(says("1", "two "), says("1", "three "), says("1", "four "), holds(says("1", "one two three four "), ""))
		}, "one two three four "},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, shown := NewFold(), ""
			f.Begin("t")
			test.do(f, func(events ...*a2a.Event) {
				for _, ev := range events {
					shown += textOf(f.Event(ev, nil))
				}
			})
			if shown != test.want {
				t.Errorf("shown is %q, want %q", shown, test.want)
			}
		})
	}
}

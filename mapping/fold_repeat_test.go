package mapping

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A whole is compared with what was shown from each beginning of a message on; what
// leaves nothing of it is what it says again.
func TestSaidCovers(t *testing.T) {
	for _, test := range []struct {
		name     string
		messages []string // "@": an artifact; "+": a chunk of the one before
		whole    string
		rest     string
		ok       bool
	}{
		{"white space begins the next message", []string{"one ", " two"}, "one ", "", true},
		{"the last message, which begins as the artifact before it", []string{"@Yes.", "Yes.", "+ Yes."}, "Yes. Yes.", "", true},
		{"it goes on", []string{"one ", "two "}, "one two three", "three", true},
		{"it ends within a message", []string{"one two"}, "one", "one", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s said
			for _, m := range test.messages {
				if chunk, ok := strings.CutPrefix(m, "+"); ok {
					s.add(chunk)
					continue
				}
				s.begin(strings.HasPrefix(m, "@"))
				s.add(strings.TrimPrefix(m, "@"))
			}
			if rest, ok := s.covers(test.whole); rest != test.rest || ok != test.ok {
				t.Errorf("%q, %v; want %q, %v", rest, ok, test.rest, test.ok)
			}
		})
	}
}

// Agents that say their events again say the task that the stream of an answer began with
// again, or not.
func TestRepetitionOfTasks(t *testing.T) {
	event := func(kind a2a.EventKind, raw string) *a2a.Event {
		return &a2a.Event{Kind: kind, TaskID: "t", HasMessage: true, Raw: a2a.JSON(raw)}
	}
	first, asks := event(a2a.EventTask, "first"), event(a2a.EventStatus, "asks")
	again, goesOn := event(a2a.EventTask, "again"), event(a2a.EventStatus, "goes on")
	var s Seen
	s.Leg()
	s.Note(first)
	s.Note(asks)
	s.Leg()
	s.Note(again)
	s.Note(goesOn)
	for _, events := range [][]*a2a.Event{{first, asks, again, goesOn}, {first, asks, goesOn}, {goesOn}} {
		r := s.Repetition()
		r.Begin()
		known := KnownNot
		for _, ev := range events {
			known = r.Next(ev)
		}
		if known != KnownLast {
			t.Errorf("%d events: %v, want %v", len(events), known, KnownLast)
		}
	}
}

// A state alone may come again at an agent that repeats nothing: it is no repetition.
func TestRepetitionOfStates(t *testing.T) {
	works := &a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: a2a.StateWorking, Raw: `{"state":"working"}`}
	var s Seen
	s.Leg()
	s.Note(works)
	r := s.Repetition()
	r.Begin()
	if known := r.Next(works); known != KnownNot {
		t.Errorf("a state alone: %v, want %v", known, KnownNot)
	}
}

// Messages that say the same are several, though a history alone has told of them, behind an
// artifact that was shown. The last one of it may be the whole of others.
func TestHeldTwice(t *testing.T) {
	fold := NewFold()
	fold.Event(&a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Artifact: a2a.Artifact{ID: "a", Parts: textParts("found")}}, nil)
	fold.Cut()
	var history []a2a.Message
	for i, text := range []string{"ok", "ok", "done", "ok ok done"} {
		history = append(history, a2a.Message{ID: string(rune('1' + i)), Role: a2a.RoleAgent, Parts: textParts(text)})
	}
	shown := ""
	for _, s := range fold.Event(&a2a.Event{Kind: a2a.EventTask, TaskID: "t", State: a2a.StateCompleted, History: seq(history)}, nil) {
		shown += s.Text + "|"
	}
	if want := "|ok|ok|done|"; !strings.HasSuffix(shown, want) {
		t.Errorf("%q, want %q", shown, want)
	}
}

// An agent has taken back the end of an artifact, and adds to it in a later turn: what is
// less than was shown may still have more.
func TestArtifactTakenBack(t *testing.T) {
	const beginning = "a long text, of which the end is taken back, so that its beginning is left"
	fold := NewFold()
	artifact := func(text string) a2a.Artifact { return a2a.Artifact{ID: "a", Parts: textParts(text)} }
	task := func(text string) []Step {
		fold.Cut()
		return fold.Event(&a2a.Event{Kind: a2a.EventTask, TaskID: "t", State: a2a.StateWorking, Artifacts: seq([]a2a.Artifact{artifact(text)})}, nil)
	}
	fold.Begin("t")
	fold.Event(&a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Artifact: artifact(beginning + ". This is the end.")}, nil)
	if steps := task(beginning); hasText(steps) {
		t.Errorf("the beginning is shown again: %+v", steps)
	}
	fold.Begin("t")
	fold.Event(&a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Artifact: artifact("One. "), Append: true}, nil)
	shown := ""
	for _, s := range task(beginning + "One. Two.") {
		shown += s.Text
	}
	if shown != "Two." {
		t.Errorf("%q is shown, and not what was lost", shown)
	}
}

// A message was heard without its beginning, or without its middle: the task has it, and
// nothing is missing.
func TestMessageHeardInPart(t *testing.T) {
	for _, test := range []struct {
		heard []string
		want  string
	}{
		{[]string{"two"}, "one  three"},
		{[]string{"one ", "three"}, "two "},
		{[]string{"one ", "two"}, " three"},
		{[]string{"four"}, ""}, // other text: what the user has stays, and a gap is said
	} {
		fold := NewFold()
		for _, text := range test.heard {
			fold.Event(&a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: a2a.StateWorking, HasMessage: true,
				Message: a2a.Message{ID: "m", Role: a2a.RoleAgent, Parts: textParts(text)}}, nil)
			fold.Cut()
		}
		shown := ""
		history := []a2a.Message{{ID: "m", Role: a2a.RoleAgent, Parts: textParts("one two three")}}
		for _, s := range fold.Event(&a2a.Event{Kind: a2a.EventTask, TaskID: "t", State: a2a.StateCompleted, History: seq(history)}, nil) {
			shown += s.Text
		}
		if gap := fold.loss.state == lost; shown != test.want || gap != (test.want == "") {
			t.Errorf("%q were heard: %q is shown, a gap: %v", test.heard, shown, gap)
		}
	}
}

// An agent takes back the end of an artifact, which an event and a look at the task say. What
// follows is behind what it has left.
func TestArtifactTakenBackSaid(t *testing.T) {
	fold := NewFold()
	event := func(text string, follows bool) a2a.Event {
		return a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Artifact: a2a.Artifact{ID: "a", Parts: textParts(text)}, Append: follows}
	}
	task := func(text string) *a2a.Event {
		return &a2a.Event{Kind: a2a.EventTask, TaskID: "t", State: a2a.StateWorking, Artifacts: seq([]a2a.Artifact{{ID: "a", Parts: textParts(text)}})}
	}
	first, less, more := event("The beginning. The end.", false), event("The beginning.", false), event(" Another end.", true)
	fold.Begin("t")
	fold.Event(&first, nil)
	fold.Cut()
	fold.Align(task("The beginning."), []a2a.Event{less}, false, nil)
	if shown := textOf(fold.Event(&more, nil)); shown != " Another end." {
		t.Errorf("%q is shown", shown)
	}
	fold.Begin("t")
	fold.Cut()
	if shown := textOf(fold.Event(task("The beginning. Another end."), nil)); shown != "" {
		t.Errorf("%q is shown again", shown)
	}
}

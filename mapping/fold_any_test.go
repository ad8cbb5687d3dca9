package mapping_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// FuzzFoldAnyOrder: whatever an agent says, in whatever order, and whatever the bridge has
// noted in between, nothing panics, and no word is shown that the agent has not said: each
// text that is shown has the letters of what it has said so far, and no others.
//
// The script has two bytes for each step: what happens, and with which text of which name.
func FuzzFoldAnyOrder(f *testing.F) {
	f.Add([]byte{0, 8, 8, 0, 14, 0, 0, 8, 0, 16, 4, 24})
	f.Add([]byte{8, 0, 14, 0, 0, 1, 0, 1, 0, 10, 5, 9, 13, 2, 1, 7, 2, 200})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 120 {
			return
		}
		s := &foldScript{Fold: mapping.NewFold(), t: t, said: map[rune]bool{}}
		for ; len(script) > 1; script = script[2:] {
			s.step(script[0], script[1])
		}
		s.shows(s.EndTurn(true, false, nil))
	})
}

// A foldScript is a Fold to which anything happens.
type foldScript struct {
	*mapping.Fold
	t    *testing.T
	said map[rune]bool
	// late are the newest events, which may come again or be looked into.
	late []a2a.Event
	// lines has what was shown, as journal spells it.
	journal spell.Journal
	lines   []byte
}

// step does one thing.
func (s *foldScript) step(what, with byte) {
	switch ev := s.event(with); what % 14 {
	case 0, 1, 2, 3:
		s.come(shown.Live, ev)
	case 4, 5:
		s.come(shown.Replayed, ev)
	case 6, 7:
		s.come(shown.Snapshot, s.task(with))
	case 8:
		for i := range s.late {
			s.shows(s.Event(shown.Verb(with%3), &s.late[i], nil))
		}
	case 9:
		s.Cut()
	case 10:
		s.shows(s.EndTurn(with&1 > 0, with&2 > 0, nil))
		s.Begin([]string{"t", "u", ""}[with%3])
	case 11:
		s.Doubt()
		s.Sent("u", "")
		s.Rest("t")
		s.Calls.Undelivered()
	case 12:
		s.restart()
	case 13:
		ev.State, ev.HasMessage, ev.EndsLeg = a2a.StateCompleted, false, true
		s.come(shown.Live, ev)
	}
	if len(s.late) > 4 {
		s.late = s.late[1:]
	}
}

// come is an event that comes.
func (s *foldScript) come(v shown.Verb, ev a2a.Event) {
	s.late = append(s.late, ev)
	s.shows(s.Event(v, &ev, nil))
}

// restart goes on with what a journal tells.
func (s *foldScript) restart() {
	s.Fold = mapping.NewFold()
	l := spell.Loader{Fold: s.Fold}
	for line := range bytes.Lines(s.lines) {
		l.Line(line)
	}
}

// text makes one of few, so that they are often alike, or each other's beginnings.
func (s *foldScript) text(with byte) string {
	text := []string{"ha", "haha", "hahaha", "yo ha", " ", "a\n", "yo", "ha yo ha"}[with>>3&7]
	for _, r := range text {
		s.said[r] = true
	}
	return text
}

// event makes an event of a few names.
func (s *foldScript) event(with byte) a2a.Event {
	text, id := s.text(with), fmt.Sprint("m", with&1)
	state := a2a.StateWorking
	if with >= 192 {
		state = a2a.StateCompleted
	}
	switch with & 7 {
	case 0, 1, 2:
		return a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: state, HasMessage: true,
			Message: a2a.Message{ID: id, Role: a2a.RoleAgent, Parts: textParts(text)}}
	case 3:
		return a2a.Event{Kind: a2a.EventMessage, HasMessage: true, Message: a2a.Message{ID: id, Role: a2a.RoleAgent, Parts: textParts(text, text)}}
	case 4:
		return s.task(with)
	}
	return a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Append: with&1 > 0, LastChunk: with >= 128,
		Artifact: a2a.Artifact{ID: id, Parts: textParts(text)}}
}

// task makes a snapshot, which may hold anything.
func (s *foldScript) task(with byte) a2a.Event {
	ev := a2a.Event{Kind: a2a.EventTask, TaskID: "t", State: a2a.StateWorking}
	if with&1 > 0 {
		ev.State = a2a.StateInputRequired
	}
	if with&2 > 0 {
		ev.HasMessage, ev.Message = true, a2a.Message{ID: "m0", Role: a2a.RoleAgent, Parts: textParts(s.text(with + 8))}
	}
	if with&4 > 0 {
		ev.History = seq([]a2a.Message{{ID: "m0", Role: a2a.RoleAgent, Parts: textParts(s.text(with + 40))}, {ID: "u", Role: a2a.RoleUser, Parts: textParts("ask")}, {ID: "m1", Role: a2a.RoleAgent, Parts: textParts(s.text(with))}, {ID: "m0", Role: a2a.RoleAgent, Parts: textParts(s.text(with + 16))}})
	}
	if with&32 > 0 {
		ev.Artifacts = seq([]a2a.Artifact{{ID: "m1", Parts: textParts(s.text(with + 24))}, {ID: "m0", Parts: textParts(s.text(with))}})
	}
	return ev
}

// shows looks at what is shown.
func (s *foldScript) shows(steps []mapping.Step) {
	for i := range steps {
		if steps[i].Kind != mapping.StepText {
			continue
		}
		for _, r := range steps[i].Text {
			if !s.said[r] {
				s.t.Fatalf("%q is shown, and nobody has said it", steps[i].Text)
			}
		}
	}
	s.lines = s.journal.Append(s.lines, steps)
}

// FuzzJournal: whatever a stored journal says, it is loaded without a panic, and editors get valid JSON.
func FuzzJournal(f *testing.F) {
	for lines := range strings.SplitSeq(string(must.Get(os.ReadFile("testdata/journals.txt"))(f)), "\n\n") {
		f.Add([]byte(lines))
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		fold := mapping.NewFold()
		l, v1, v2, model, journal := spell.Loader{Fold: fold}, spell.ACP{}, spell.ACP{V2: &spell.Places{}}, spell.MCP{}, spell.Journal{}
		var out []byte
		for line := range bytes.Lines(lines) {
			steps, _ := l.Line(line)
			out = journal.Append(v2.Append(v1.Append(out, steps), steps), steps)
			model.Append(steps)
		}
		steps := fold.EndTurn(true, false, nil)
		out = v2.Append(v1.Append(out, steps), steps)
		for line := range bytes.Lines(out) {
			if !json.Valid(line) {
				t.Errorf("%s", line)
			}
		}
	})
}

package mapping

import (
	"fmt"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// FuzzFoldEcho is about a subscription, whose events have no offsets. Each event is
// followed by a look at the task, and then folded as an echo. Whatever was lost before,
// all text is shown once and in order, even text that repeats itself. Of text that the task
// does not hold, each event that has come is shown.
//
// The script's low bits choose the message, the artifact (which the task holds),
// or messages that it does not hold; lost is how much of it was lost.
func FuzzFoldEcho(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 1, 2, 2}, 1, 3, 2)
	f.Fuzz(func(t *testing.T, script []byte, lose, at, late int) {
		if len(script) > 100 || lose < 0 || at < lose || at > len(script) || late < 0 || late > 4 {
			return
		}
		said, want, shown := map[string]string{}, map[string]string{}, map[string]string{}
		fold := NewFold()
		note := func(steps []Step) {
			for _, s := range steps {
				if s.Kind == StepText {
					shown[s.MessageID[:1]] += s.Text
				}
			}
		}
		task := func() *a2a.Event {
			var history []a2a.Message
			var artifacts []a2a.Artifact
			if text, ok := said["0"]; ok {
				history = append(history, a2a.Message{ID: "0", Role: a2a.RoleAgent, Parts: textParts(text)})
			}
			if text, ok := said["1"]; ok {
				artifacts = append(artifacts, a2a.Artifact{ID: "1", Parts: textParts(text)})
			}
			return &a2a.Event{Kind: a2a.EventTask, TaskID: "t", History: seq(history), Artifacts: seq(artifacts)}
		}
		var read []*a2a.Event // by the connection, but not folded yet
		flush := func() {
			note(fold.Event(task(), nil))
			for _, ev := range read {
				note(fold.Echo(ev, nil))
			}
			read = nil
		}
		for i, b := range script {
			id, text := fmt.Sprint(b%3), []string{"ha", "yo", "me"}[b%3][:b>>7+1]
			ev := &a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: a2a.StateWorking, HasMessage: true,
				Message: a2a.Message{ID: id, Role: a2a.RoleAgent, Parts: textParts(text)}}
			switch id {
			case "2":
				ev.Message.ID += fmt.Sprint(".", i)
			case "1":
				ev = &a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Append: true, Artifact: a2a.Artifact{ID: id, Parts: textParts(text)}}
			}
			said[id] += text
			if id != "2" || i < lose || i >= at {
				want[id] += text
			}
			switch {
			case i < lose:
				note(fold.Event(ev, nil))
			case i >= at:
				if read = append(read, ev); len(read) > late { // the look comes late
					flush()
				}
			}
		}
		flush()
		for id, text := range want {
			if shown[id] != text {
				t.Fatalf("message %s: want %q, shown %q", id, text, shown[id])
			}
		}
	})
}

package mapping

import (
	"fmt"
	"slices"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestFoldJoin: status messages that each have an ID of their own are chunks of one
// text, or messages, by how the one ends and how the next begins. A run of chunks has
// one message ID for the editor.
func TestFoldJoin(t *testing.T) {
	for _, test := range []struct {
		name string
		says []string
		ends a2a.State // the state of the last one; "": working
		want []string
	}{
		{"tokens of a model, with their blanks", []string{"The", " answer", " is", " 42", "."}, "", []string{"The answer is 42."}},
		{"tokens within words", []string{"The ans", "wer is", " fortyT", "wo"}, "", []string{"The answer is fortyTwo"}},
		{"a run once known goes on, whatever comes", []string{"Hi", ", ", "You", "There"}, "", []string{"Hi, YouThere"}},
		{"lines that the chunks end", []string{"one\n", "two\n"}, "", []string{"one\ntwo\n"}},
		{"notes with an ellipsis", []string{"Looking up the rates…", "Processing…"}, "", []string{"Looking up the rates…", "Processing…"}},
		{"sentences", []string{"I have it.", "It is 42."}, "", []string{"I have it.", "It is 42."}},
		{"notes without punctuation", []string{"Processing", "Done"}, "", []string{"Processing", "Done"}},
		{"an opening bracket", []string{"see (", "above)"}, "", []string{"see (above)"}},
		{"a question ends the turn", []string{"working on it", "which city?"}, a2a.StateInputRequired, []string{"working on it", "which city?"}},
		{"an answer ends the task", []string{"working on it", "here it is"}, a2a.StateCompleted, []string{"working on it", "here it is"}},
		{"the last chunk ends the task", []string{"The answer", " is 42"}, a2a.StateCompleted, []string{"The answer is 42"}},
	} {
		event := func(i int, kind a2a.EventKind) *a2a.Event {
			ev := &a2a.Event{Kind: kind, TaskID: "t", State: a2a.StateWorking, HasMessage: true,
				Message: a2a.Message{ID: fmt.Sprint(i), Role: a2a.RoleAgent, Parts: textParts(test.says[i])}}
			if i == len(test.says)-1 && test.ends != "" {
				ev.State = test.ends
			}
			return ev
		}
		check := func(how string, steps []Step) {
			t.Helper()
			var ids, texts []string
			for _, s := range steps {
				if s.Kind != StepText {
					continue
				}
				if len(ids) == 0 || ids[len(ids)-1] != s.Shown {
					ids, texts = append(ids, s.Shown), append(texts, "")
				}
				texts[len(texts)-1] += s.Text
			}
			if !slices.Equal(texts, test.want) {
				t.Errorf("%s, %s: the editor sees the messages %q, and not %q", test.name, how, texts, test.want)
			}
		}
		fold := NewFold()
		var steps []Step
		for i := range test.says {
			steps = fold.Event(event(i, a2a.EventStatus), steps)
		}
		check("streamed", steps)
		if test.name == "a run once known goes on, whatever comes" {
			continue // tasks keep messages, hardly ever chunks
		}
		fold, steps = NewFold(), nil
		for i := range test.says {
			ev := event(i, a2a.EventTask)
			var history []a2a.Message
			for k := range i {
				history = append(history, event(k, a2a.EventStatus).Message)
			}
			ev.History = seq(history)
			steps = fold.Event(ev, steps)
		}
		check("polled", steps)
	}
}

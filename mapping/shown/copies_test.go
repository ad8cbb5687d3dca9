package shown

import (
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestCopies: a history has the words of the stream under IDs of its own. Once a state has shown which those are, the
// next one may hold them so: no gap is told then, and no text is taken for one that has its place. Each line is a
// state; what stands before the first "|" came live before it.
func TestCopies(t *testing.T) {
	tokens := []word{{"m1", "", "Looking "}, {"m2", "", "it up."}}
	copied := []word{{ourID, "", "hi"}, {"x1", "", "Looking it up."}}
	and := func(more ...word) []word { return append(copied[:2:2], more...) }
	for name, v := range map[string]struct {
		live []word // before the first state
		then []word // behind it
		cut  bool   // before the first state, not behind what came then
		held [2][]word
		end  a2a.State
		want string
	}{
		"a live task, and a call": {live: tokens, then: []word{{"call", "", ""}, {"m3", "", "The tool "}, {"m4", "", "said: "}},
			held: [2][]word{copied, and(word{"x2", "completed", "The tool said: 5 degrees."})}, want: "m1: Looking it up.\nm3: The tool said: 5 degrees."},
		"a short text behind it": {live: tokens, then: []word{{"call", "", ""}, {"m3", "", "It "}, {"m4", "", "is "}},
			held: [2][]word{copied, and(word{"x2", "completed", "It is 5."})}, want: "m1: Looking it up.\nm3: It is 5."},
		"one ID for ever, and a short text": {live: []word{{"m1", "", "Looking "}, {"m1", "", "it up."}}, then: []word{{"m1", "", " It "}, {"m1", "", "is "}},
			held: [2][]word{copied, and(word{"x2", "completed", "It is 5."})}, want: "m1: Looking it up. It is 5."},
		"one ID, and the task holds less": {live: []word{{"m1", "", "Looking "}, {"m1", "", "it up."}}, then: []word{{"m1", "", " It is 5."}},
			held: [2][]word{copied, copied}, want: "m1: Looking it up. It is 5.\ngap"},
		"two looks": {live: tokens, cut: true,
			held: [2][]word{copied, and(word{"x2", "completed", " Done."})}, want: "m1: Looking it up. Done."},
		"two looks, and as it began": {live: []word{{"m1", "", "OK, "}, {"m2", "", "I look."}}, cut: true,
			held: [2][]word{{{ourID, "", "hi"}, {"x1", "", "OK, I look."}}, {{ourID, "", "hi"}, {"x1", "", "OK, I look."}, {"x2", "", "\nOK,"}}}, want: "m1: OK, I look.\nOK,"},
		"a line break behind a call": {live: []word{{"m1", "", "Looking "}, {"m1", "", "it up."}, {"call", "", ""}, {"m1", "", "\n\n"}}, cut: true,
			held: [2][]word{{{ourID, "", "hi"}}, and(word{"x2", "completed", "It is 5."})}, want: "m1: Looking it up.\nm1~1: \n\n\nx2: It is 5."},
		"it grows, and is said again": {live: []word{{"m1", "", "It is 5 "}, {"m1", "", "degrees in Oslo."}}, cut: true,
			held: [2][]word{{{ourID, "", "hi"}, {"x1", "", "It is 5 degrees in Oslo."}, {"x2", "", "It is 5 degrees in Oslo. Done."}, {"x3", "", "It is 5 degrees in Oslo."}},
				{{ourID, "", "hi"}, {"x1", "", "It is 5 degrees in Oslo."}, {"x2", "", "It is 5 degrees in Oslo. Done."}, {"x3", "", "It is 5 degrees in Oslo."}}},
			want: "m1: It is 5 degrees in Oslo. Done.\nx3: It is 5 degrees in Oslo."},
		"three equal texts": {live: []word{{"m1", "", "It is so."}, {"call", "", ""}, {"m2", "", "It "}, {"m2", "", "is so."}}, cut: true,
			held: [2][]word{{{ourID, "", "hi"}, {"x1", "", "It is so."}, {"x2", "", "It is so."}}, {{ourID, "", "hi"}, {"x1", "", "It is so."}, {"x2", "", "It is so."}, {"x3", "", "It is so."}}},
			want: "m1: It is so.\nm2: It is so.\nx3: It is so."},
		"three equal artifacts": {live: []word{{"n1", "", "It is so."}}, cut: true,
			held: [2][]word{{{ourID, "", "hi"}, {"n1", "", "It is so."}, {"n2", "", "It is so."}}, {{ourID, "", "hi"}, {"n1", "", "It is so."}, {"n2", "", "It is so."}, {"n3", "", "It is so."}}},
			want: "n1: It is so.\nn2: It is so.\nn3: It is so."},
		"a short text of an artifact's words, which the end has said": {live: []word{{"n1", "", "It is "}, {"n1+", "", "so."}, {"w1", "completed", "It is so."}},
			held: [2][]word{{{ourID, "", "hi"}}, {{ourID, "", "hi"}, {"x1", "", "It is so."}, {"w1", "completed", "It is so."}, {"n1", "", "It is so."}}}, want: "n1: It is so."},
		"equal texts, none of them heard": {live: []word{{"n1", "", "The report."}}, cut: true,
			held: [2][]word{{{ourID, "", "hi"}}, {{ourID, "", "hi"}, {"x1", "", "Done."}, {"x2", "", "Done."}, {"n1", "", "The report."}}}, want: "n1: The report.\nx1: Done.\nx2: Done."},
		"a short text behind an artifact": {live: []word{{"n1", "", "The report."}, {"m1", "", "It is so."}},
			held: [2][]word{{{ourID, "", "hi"}, {"x1", "", "It is so."}}, {{ourID, "", "hi"}, {"x1", "", "It is so."}, {"n1", "", "The report."}}}, want: "n1: The report.\nm1: It is so."},
		"tokens, and a question": {live: []word{{"m1", "", "Let "}, {"m2", "", "me "}}, cut: true, end: a2a.StateInputRequired,
			held: [2][]word{{{ourID, "", "hi"}}, {{ourID, "", "hi"}, {"x1", "", "Let me ask."}, {"x2", "input-required", "Which city?"}}}, want: "m1: Let me ask.\nx2: Which city?"},
	} {
		t.Run(name, func(t *testing.T) {
			var view view
			s := New(view.show)
			s.Task("task")
			s.Begin()
			s.Sent(ourID, "")
			live := func(words []word) {
				for _, x := range words {
					if x.id == "call" {
						s.Break()
					} else {
						s.Live(x.item())
					}
				}
			}
			if live(v.live); v.cut {
				s.Cut()
				s.Snapshot(a2a.StateWorking, heldOf(v.held[0]))
			} else {
				s.State(heldOf(v.held[0]))
				live(v.then)
				s.Cut()
			}
			if v.end == "" {
				v.end = a2a.StateCompleted
			}
			if s.Snapshot(v.end, heldOf(v.held[1])) {
				view = append(view, line{"gap", ""})
			}
			s.End()
			if got := view.inOrder(); got != v.want {
				t.Errorf("shown is\n%s\nwant\n%s", got, v.want)
			}
		})
	}
}

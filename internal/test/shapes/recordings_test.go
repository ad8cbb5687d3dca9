package shapes

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
)

// A shown is what a user has seen of a recording.
type shown struct {
	letters   string
	gaps      int
	calls     map[string]string // their last statuses
	questions []string
	ends      []string // how the turns have ended
}

// play plays a recording, with a fault or without one.
func (r *recorded) play(t *testing.T, turn int, fault *agent.Fault) *shown {
	script := r.script()
	if fault != nil {
		script.Turns[turn].Faults = []agent.Fault{*fault}
	}
	picked := 0
	answer := func(q *editor.Shown) (string, time.Duration) {
		pick := ""
		if picked < len(r.picks) {
			pick = r.picks[picked]
		}
		picked++
		for i, id := range q.Options {
			if id == pick || q.Kinds[i] == pick {
				return id, 0
			}
		}
		return q.Options[0], 0
	}
	s := &shown{calls: map[string]string{}}
	var all strings.Builder
	for _, turn := range converse(t, script, r.prompts, &editor.Options{Protocol: newest(), Answer: answer}) {
		letters, _, gaps := View(turn.Shown)
		all.WriteString(letters)
		s.gaps += gaps
		for _, x := range turn.Shown {
			switch {
			case x.Kind == editor.Question:
				s.questions = append(s.questions, x.ID)
			case x.Kind == editor.Call && x.Text != "":
				s.calls[x.ID] = x.Text
			}
		}
		s.ends = append(s.ends, turn.Stop+turn.Err)
	}
	s.letters = all.String()
	slices.Sort(s.questions)
	return s
}

// against says what is wrong with what was seen behind a cut.
func (s *shown) against(whole *shown) string {
	// An agent that does not know its task any more is told of as an error, which says that what
	// it was doing is lost. Another error of the agent's has more words on its stream than in its
	// task.
	isError := func(end string) bool { return strings.HasPrefix(end, "agent: ") }
	isGone := func(end string) bool { return strings.Contains(end, "is gone") }
	said := s.gaps > whole.gaps || slices.ContainsFunc(s.ends, isGone)
	sameEnd := func(got, want string) bool { return got == want || isGone(got) || isError(got) && isError(want) }
	switch {
	case !slices.EqualFunc(s.ends, whole.ends, sameEnd):
		return "a turn ends otherwise"
	case len(s.questions) < len(whole.questions):
		return "a question is not asked"
	case len(s.questions) > len(whole.questions):
		return "a question is asked twice"
	case !said && !maps.Equal(s.calls, whole.calls):
		return "a call is lost, or ends otherwise"
	case s.letters == whole.letters && s.gaps > whole.gaps:
		return FalseGap
	case s.letters == whole.letters || said:
		return ""
	case sorted(s.letters) == sorted(whole.letters):
		return Misordered
	case len(s.letters) < len(whole.letters):
		return Lost
	}
	return Doubled
}

func sorted(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}

// TestRecordings plays each recording: each word is shown once, and nothing else of the agent's.
// And it cuts each stream behind each event, or, without -both and -all, behind each third. The
// agent's task is what its server answered where that was recorded, and else what the SDKs would hold.
func TestRecordings(t *testing.T) {
	classes, cuts, wrong, partial := map[string]int{}, 0, 0, 0
	for k, r := range recordings(t) {
		whole := r.play(t, 0, nil)
		if want := Letters(r.says); want != "" && whole.letters != want {
			t.Errorf("%s: shown is\n %q, the agent said\n %q", r.name, whole.letters, want)
		}
		for n, turn := range r.script().Turns {
			stream, events := 0, 0
			for i, step := range turn.Steps {
				if events++; step.Kind == agent.Direct || i == len(turn.Steps)-1 {
					break
				}
				fault := &agent.Fault{Stream: stream, Events: events}
				if step.Waits {
					stream, events = stream+1, 0
				}
				if (i+k)%3 > 0 && !*both && !*all {
					continue
				}
				cuts++
				got := r.play(t, n, fault)
				class := got.against(whole)
				if class == FalseGap && r.gemini {
					partial++ // its task holds a part of what it has said: no look at it can be complete
					continue
				}
				if class == "" {
					continue
				}
				classes[class]++
				if wrong++; wrong <= *tell && strings.Contains(class, *tells) && strings.Contains(r.name, *only) {
					t.Logf("%s: %s, turn %d, %v\n    whole: %q %v %v %v\n    got:   %q %v %v %v gaps %d", class, r.name, n, fault,
						whole.letters, whole.calls, whole.questions, whole.ends, got.letters, got.calls, got.questions, got.ends, got.gaps)
				}
			}
		}
	}
	t.Logf("%d cuts; %d gaps at an agent that keeps a part; %v", cuts, partial, classes)
	t.Logf("wrong: cuts of recordings: %d", wrong)
	const atMost = 5 // may only shrink
	if wrong > atMost {
		t.Errorf("%d cuts are wrong, and %d were before", wrong, atMost)
	}
}

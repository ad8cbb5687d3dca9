package shapes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/memnet"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A shown is what a user has seen of a recording.
type shown struct {
	letters   string
	gaps      int
	calls     map[string]string // their last statuses
	questions []string
	ends      []string // how the turns have ended
}

// user answers questions as the user of the recording did.
func (r *recorded) user() func(q *editor.Shown) (string, time.Duration) {
	picked := 0
	return func(q *editor.Shown) (string, time.Duration) {
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
}

// play plays a recording, with a fault or without one.
func (r *recorded) play(t *testing.T, turn int, fault *agent.Fault) *shown {
	script := r.script()
	if fault != nil {
		script.Turns[turn].Faults = []agent.Fault{*fault}
	}
	s := &shown{calls: map[string]string{}}
	var all strings.Builder
	for _, turn := range converse(t, script, r.prompts, &editor.Options{Protocol: newest(), Answer: r.user(), Dialect: r.dialect}) {
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
		return LostCall
	case s.letters == whole.letters && s.gaps > whole.gaps:
		return FalseGap
	case s.letters == whole.letters || said && len(s.letters) < len(whole.letters): // a gap excuses what is missing
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

// A faultyPlay is a fault, how fast the agent speaks (0: agent.Pace), and how many such plays are wrong
// at most, which may only shrink.
type faultyPlay struct {
	name string
	agent.Fault
	pace   time.Duration
	atMost int
}

var faulty = []faultyPlay{
	{"cut", agent.Fault{Kind: agent.Cut}, 0, 5},
	{"stalled", agent.Fault{Kind: agent.Stall, For: 45 * time.Second}, 0, 6},
	{"late", agent.Fault{Kind: agent.Stall, For: 6 * time.Second}, 700 * time.Millisecond, 1}, // a look has been before what comes
	{"slow, cut", agent.Fault{Kind: agent.Cut}, 5 * time.Second, 3},                           // it goes on behind the cut
}

// TestRecordings plays each recording: each word is shown once, and nothing else of the agent's.
// So it is where the agent is slow, and is looked at. And it cuts each stream behind each event, or has
// it stall there; without -both and -all behind each third. The agent's task is what its server answered
// where that was recorded, and else what the SDKs would hold.
func TestRecordings(t *testing.T) {
	var mu sync.Mutex
	classes, faults, wrong, partial := map[string]int{}, 0, map[string]int{}, 0
	list := recordings(t)
	must.OnAll(t, len(list), func(t *testing.T, k int) {
		r := list[k]
		judge := func(n int, x faultyPlay, whole *shown) {
			fault := x.Fault
			got := r.play(t, n, &fault)
			class := got.against(whole)
			mu.Lock()
			defer mu.Unlock()
			faults++
			switch {
			case class == "":
				return
			case class == FalseGap && (r.gemini || strings.HasPrefix(r.name, "dialects/iaccode")):
				partial++ // its task holds a part of what it has said, or of its calls: no look at it can be complete
				return
			}
			classes[class]++
			wrong[x.name]++
			if wrong[x.name] <= *tell && strings.Contains(class, *tells) && strings.Contains(r.name, *only) {
				t.Logf("%s, %s: %s, turn %d, %v\n    whole: %q %v %v %v\n    got:   %q %v %v %v gaps %d", x.name, class, r.name, n, x.Fault,
					whole.letters, whole.calls, whole.questions, whole.ends, got.letters, got.calls, got.questions, got.ends, got.gaps)
			}
		}
		whole := r.play(t, 0, nil)
		if want := Letters(r.says); want != "" && whole.letters != want {
			t.Errorf("%s: shown is\n %q, the agent said\n %q", r.name, whole.letters, want)
		}
		if !r.gemini { // of which the scripted agent takes no answer yet
			r.pace = 5 * time.Second
			slow := r.play(t, 0, nil)
			if class := slow.against(whole); class != "" || slow.gaps > whole.gaps {
				t.Errorf("%s: said slowly: %s\n %q\n %q %v", r.name, class, whole.letters, slow.letters, slow.ends)
			}
			r.pace = 0
		}
		for n, turn := range r.script().Turns {
			stream, events := 0, 0
			for i, step := range turn.Steps {
				if events++; step.Kind == agent.Direct || i == len(turn.Steps)-1 {
					break
				}
				for third, x := range faulty {
					if (i+k)%3 != third%3 && !*both && !*all || r.gemini && x.pace > 0 {
						continue
					}
					x.Stream, x.Events, r.pace = stream, events, x.pace
					judge(n, x, whole)
				}
				if step.Waits { // the next stream is cut before its first event, too
					stream, events = stream+1, 0
					for _, x := range faulty {
						if x.Stream, r.pace = stream, x.pace; x.Kind == agent.Cut && !r.gemini {
							judge(n, x, whole)
						}
					}
				}
			}
		}
	})
	t.Logf("%d faults; %d gaps at an agent that keeps a part; %v", faults, partial, classes)
	sum := 0
	for _, x := range faulty {
		sum += wrong[x.name]
		must.True(t, wrong[x.name] <= x.atMost, x.name, wrong[x.name], "are wrong, and there were", x.atMost)
	}
	t.Logf("wrong: faults of recordings: %d %v", sum, wrong)
}

// kill plays a recording, kills the bridge behind so many steps, and loads the session a minute later: it
// returns what the editor has got then. turn is that of the kill, -1 for none.
func (r *recorded) kill(t *testing.T, steps int) (letters string, gaps, turn int) {
	script, turn := r.script(), -1
	before, after := t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		reached := make(chan struct{})
		script.OnSay = func(n int) {
			if n == steps {
				close(reached)
			}
		}
		a, n := agent.New(script), 0
		defer a.Close()
		opts := &editor.Options{Protocol: newest(), URL: agent.URL, Answer: r.user(), Dialect: r.dialect, Store: must.Get(store.Open(before))(t)}
		opts.NewID = func() string { n++; return fmt.Sprintf("ours-%d", n) }
		network := &memnet.Network{Handler: a}
		opts.Network = network
		e := must.Get(editor.Start(opts))(t)
		defer func() { _ = e.Close(); network.Sever() }()
		for i, prompt := range r.prompts {
			prompted := e.Prompt(prompt)
			select {
			case <-prompted.Done:
				continue
			case <-time.After(patience):
				e.Cancel(prompted)
				<-prompted.Done
				continue
			case <-reached:
			}
			turn = i
			synctest.Wait() // what it did last is on the disk
			network = must.Get(killBridge(e, opts, network, before, after))(t)
			time.Sleep(time.Minute)
			e = must.Get(editor.Start(opts))(t)
			time.Sleep(5 * time.Minute)
			letters, _, gaps = View(e.Loaded())
			return
		}
	})
	return letters, gaps, turn
}

// TestRecordingsKilled kills the bridge behind each event of a recording, and loads the session.
func TestRecordingsKilled(t *testing.T) {
	if !*both {
		t.Skip(".ci/run has it: -both")
	}
	classes := map[string]int{}
	for _, r := range recordings(t) {
		said, steps, waits := []string{""}, 0, false
		for _, turn := range r.script().Turns {
			for _, step := range turn.Steps {
				steps, waits = steps+1, waits || step.Waits
			}
		}
		for _, turn := range converse(t, r.script(), r.prompts, &editor.Options{Protocol: newest(), Answer: r.user(), Dialect: r.dialect}) {
			letters, _, _ := View(turn.Shown)
			said = append(said, said[len(said)-1]+letters)
		}
		for n := 1; n <= steps; n++ {
			letters, gaps, turn := r.kill(t, n)
			class, want := "", said[turn+1]
			switch {
			case turn < 0, len(letters) < len(want) && gaps > 0, waits && strings.HasPrefix(want, letters): // it waits for the user
			case letters == want && gaps > 0 && !r.gemini:
				class = FalseGap
			case len(letters) < len(want):
				class = Lost
			case letters != want:
				class = Doubled
			}
			if class == "" {
				continue
			}
			if classes[class]++; classes[class] <= *tell {
				t.Logf("%s: %s, killed behind event %d\n    said: %q\n    got:  %q", class, r.name, n, want, letters)
			}
		}
	}
	t.Log(classes)
	for class, atMost := range map[string]int{Lost: 3, Doubled: 4, FalseGap: 1} { // may only shrink
		must.True(t, classes[class] <= atMost, class, classes[class], "and before", atMost)
	}
}

package shapes

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/memnet"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

var (
	tell    = flag.Int("tell", 0, "print so many wrong turns, or plays of TestEnds")
	only    = flag.String("shape", "", "play the shapes that have this in their name")
	tells   = flag.String("class", "", "print wrong turns of this class only; with -replay: make the world small for this one")
	version = flag.String("v", "", "0.3 or 1.0; else both, each for half of the conversations")
	all     = flag.Bool("all", false, "each shape with all conversations, not with one, and in all editor protocols; TestEnds: each way to look at a task behind each fault")
	both    = flag.Bool("both", false, "each shape in all editor protocols, and each end of a turn, not a third of them in one")
)

func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(800) // much garbage, and nothing is kept
	debug.SetMemoryLimit(512 << 20)
	os.Exit(m.Run())
}

// A tally counts wrong turns by class and shape.
type tally struct {
	mu           sync.Mutex
	turns, wrong int
	chosen       map[string]int
	class        map[string]int
	shapes       map[string]bool
	printed      int
}

// newTallies are for each editor protocol.
func newTallies() (y [3]*tally) {
	for p := range y {
		y[p] = newTally()
	}
	return y
}

func newTally() *tally {
	return &tally{chosen: map[string]int{}, class: map[string]int{}, shapes: map[string]bool{}}
}

func (y *tally) add(t *testing.T, s Shape, answers []string, turn int, class, where string, detail func() string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.turns++
	if class == "" {
		return
	}
	if c := ChosenFor(s, answers, turn, class); c != "" {
		y.chosen[c]++
		return
	}
	y.wrong++
	y.class[class]++
	y.shapes[s.String()] = true
	if y.printed < *tell && (*tells == "" || strings.Contains(class, *tells)) {
		y.printed++
		t.Logf("%s: %s\n    %s, turn %d: %q\n%s", class, s, where, turn, answers[turn], detail())
	}
}

// report prints the counts. No turn may be wrong.
func (y *tally) report(t *testing.T, what string) {
	must.True(t, *all || *only != "" || *version != "" || y.wrong <= 0, y.wrong, "turns are wrong")
	t.Logf("%s: %d turns, of %d shapes some are wrong; chosen: %v", what, y.turns, len(y.shapes), y.chosen)
	t.Logf("wrong: %s: %d", what, y.wrong)
	for _, class := range ByCount(y.class) {
		t.Logf("%6d %s", y.class[class], class)
	}
}

// each calls f for all shapes and conversations, on all processors. What is not played each time
// is drawn by the shape's number: it must not go with a property of the shapes, which are in order.
func each(t *testing.T, list []Shape, protocols []editor.Protocol, f func(t *testing.T, s Shape, v1 bool, answers []string, p editor.Protocol)) {
	type job struct {
		s       Shape
		v1      bool
		answers []string
		editor.Protocol
	}
	var jobs []job
	for i, s := range list {
		draw := int(uint32(i+1) * 2654435761 >> 8) // Knuth's multiplicative hash
		pick := func(n int) int { drawn := draw % n; draw /= n; return drawn }
		sentence, odd, protocol, third := pick(len(Sentences)), pick(2), pick(len(protocols)), pick(3)
		if !strings.Contains(s.String(), *only) || third > 0 && !*all && !*both && *only == "" {
			continue
		}
		for n, answers := range Sentences {
			if !*all && n != sentence {
				continue
			}
			for k, p := range protocols {
				if *all || *both && slices.Index(protocols, p) == k || !*all && !*both && protocol == k {
					jobs = append(jobs, job{s, *version == "1.0" || *version == "" && (odd+n)%2 == 1, answers, p})
				}
			}
		}
	}
	must.OnAll(t, len(jobs), func(t *testing.T, i int) {
		j := jobs[i]
		f(t, j.s, j.v1, j.answers, j.Protocol)
	})
}

// TestShapes: what a user reads of streams that are whole. A2A lines have each item with all of
// its text, and what they do not mark as a repetition is what a user reads.
func TestShapes(t *testing.T) {
	y := newTallies()
	each(t, Shapes("none", "ours", "all"), []editor.Protocol{editor.ACP, editor.Lines, editor.ACP2, editor.Lines}, func(t *testing.T, s Shape, v1 bool, answers []string, p editor.Protocol) {
		items := s.Items(answers)
		for n, turn := range play(t, s.Script(v1, answers), p) {
			letters, lines, gaps := View(turn.Shown)
			class, text := "", lines
			if p == editor.Lines { // where a message ends is in the record
				class, text = JudgeRecord(Record(turn.Shown), items[n]), answers[n]
			}
			if read := Judge(letters, text, gaps, answers[n], false, false); read != "" {
				class = read
			}
			if turn.Err != "" {
				class = Error
			}
			y[p].add(t, s, answers, n, class, p.String(), func() string {
				return fmt.Sprintf("    shown: %q gaps %d %s\n    record: %q", lines, gaps, turn.Err, Record(turn.Shown))
			})
		}
	})
	for p, tally := range y {
		tally.report(t, fmt.Sprint(editor.Protocol(p), ", uncut"))
	}
}

// patience bounds a turn, in virtual time.
const patience = 20 * time.Minute

// newest is ACP 2 with -both, and else ACP.
func newest() editor.Protocol {
	if *both {
		return editor.ACP2
	}
	return editor.ACP
}

// play plays a script's turns over a protocol.
func play(t *testing.T, script *agent.Script, p editor.Protocol) []*editor.Turn {
	var prompts []string
	for n := range script.Turns {
		prompts = append(prompts, fmt.Sprintf("question %d", n))
	}
	return converse(t, script, prompts, &editor.Options{Protocol: p})
}

// converse plays these prompts. A turn that does not end is cancelled.
func converse(t *testing.T, script *agent.Script, prompts []string, opts *editor.Options) (turns []*editor.Turn) {
	synctest.Test(t, func(t *testing.T) {
		a := agent.New(script)
		network := &memnet.Network{Handler: a}
		n := 0
		opts.Network, opts.URL, opts.NewID = network, agent.URL, func() string { n++; return fmt.Sprintf("ours-%d", n) }
		e := must.Get(editor.Start(opts))(t)
		for _, prompt := range prompts {
			turn := e.Prompt(prompt)
			turns = append(turns, turn)
			select {
			case <-turn.Done:
			case <-time.After(patience):
				e.Cancel(turn)
				<-turn.Done
				turn.Err = "the turn does not end"
			}
		}
		must.Fail(t, e.Close(), "")
		network.Sever()
		a.Close()
	})
	return turns
}

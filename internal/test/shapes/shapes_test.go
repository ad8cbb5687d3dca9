package shapes

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	tell    = flag.Int("tell", 0, "print so many wrong turns")
	only    = flag.String("shape", "", "play the shapes that have this in their name")
	tells   = flag.String("class", "", "print wrong turns of this class only")
	version = flag.String("v", "", "0.3 or 1.0; else both, each for half of the conversations")
	all     = flag.Bool("all", false, "each shape with all conversations, not with one, and in both editor protocols")
	both    = flag.Bool("both", false, "each shape in both editor protocols, not in one")
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
	forms        map[string]map[string]int // by class
	printed      int
}

func newTally() *tally {
	return &tally{chosen: map[string]int{}, class: map[string]int{}, shapes: map[string]bool{}, forms: map[string]map[string]int{}}
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
	form := strings.Join([]string{s.Carrier, s.Form, "ID " + s.IDs}, " | ")
	if y.forms[class] == nil {
		y.forms[class] = map[string]int{}
	}
	y.forms[class][form]++
	if y.printed < *tell && (*tells == "" || strings.Contains(class, *tells)) {
		y.printed++
		t.Logf("%s: %s\n    %s, turn %d: %q\n%s", class, s, where, turn, answers[turn], detail())
	}
}

// report prints the counts. More wrong turns than there were may not be: atMost may only
// shrink.
func (y *tally) report(t *testing.T, what string, atMost int) {
	if !*all && *only == "" && *version == "" && y.wrong > atMost {
		t.Errorf("%d turns are wrong, and %d were before", y.wrong, atMost)
	}
	t.Logf("%s: %d turns, of %d shapes some are wrong; chosen: %v", what, y.turns, len(y.shapes), y.chosen)
	t.Logf("wrong: %s: %d", what, y.wrong)
	for _, class := range byCount(y.class) {
		t.Logf("%6d %s", y.class[class], class)
		forms := y.forms[class]
		names := byCount(forms)
		for _, name := range names[:min(len(names), 12)] {
			t.Logf("         %6d %s", forms[name], name)
		}
	}
}

// byCount are the names, the most frequent first.
func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
}

// each calls f for all shapes and conversations, on all processors. Without -all or -both two
// tests share the shapes, if they say that they are one half or the other.
func each(t *testing.T, list []Shape, half int, f func(t *testing.T, s Shape, v1 bool, answers []string)) {
	type job struct {
		s       Shape
		v1      bool
		answers []string
	}
	var jobs []job
	for i, s := range list {
		if !strings.Contains(s.String(), *only) || !*all && !*both && half != whole && i/2%2 != half {
			continue
		}
		for n, answers := range Sentences {
			if !*all && n != i%len(Sentences) {
				continue
			}
			jobs = append(jobs, job{s, *version == "1.0" || *version == "" && (i+n)%2 == 1, answers})
		}
	}
	var next atomic.Int64
	t.Run("play", func(t *testing.T) {
		for w := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint("worker", w), func(t *testing.T) {
				t.Parallel()
				for i := next.Add(1); i <= int64(len(jobs)); i = next.Add(1) {
					j := jobs[i-1]
					f(t, j.s, j.v1, j.answers)
				}
			})
		}
	})
}

// The halves of the shapes.
const (
	whole = iota - 1
	first
	second
)

// TestShapes: what a user reads in ACP of streams that are whole.
func TestShapes(t *testing.T) {
	y := newTally()
	each(t, Shapes("none", "ours", "all"), first, func(t *testing.T, s Shape, v1 bool, answers []string) {
		for n, turn := range play(t, s.Script(v1, answers), false) {
			letters, lines, gaps := View(turn.Shown)
			class := Judge(letters, lines, gaps, answers[n], false, false)
			if turn.Err != "" {
				class = Error
			}
			y.add(t, s, answers, n, class, "ACP", func() string { return fmt.Sprintf("    shown: %q gaps %d %s", lines, gaps, turn.Err) })
		}
	})
	y.report(t, "ACP, uncut", 0)
}

// TestRecords: A2A lines have each item with all of its text, and what they do not mark as
// a repetition is what a user reads.
func TestRecords(t *testing.T) {
	y := newTally()
	each(t, Shapes("none", "ours", "all"), second, func(t *testing.T, s Shape, v1 bool, answers []string) {
		items := s.Items(answers)
		for n, turn := range play(t, s.Script(v1, answers), true) {
			letters, lines, gaps := View(turn.Shown)
			record := Record(turn.Shown)
			class := JudgeRecord(record, items[n])
			if read := Judge(letters, answers[n], gaps, answers[n], false, false); read != "" {
				class = read
			}
			if turn.Err != "" {
				class = Error
			}
			y.add(t, s, answers, n, class, "A2A lines", func() string {
				return fmt.Sprintf("    told: %q\n    record: %q gaps %d %s", lines, record, gaps, turn.Err)
			})
		}
	})
	y.report(t, "A2A lines, uncut", 0)
}

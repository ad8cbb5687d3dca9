package world

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
	"testing/synctest"
)

var (
	worlds     = flag.Uint64("worlds", defaultWorlds, "how many worlds TestWorlds plays")
	firstSeed  = flag.Uint64("seed", 0, "the seed of the first world")
	replayFlag = flag.String("replay", "", "the world that TestReplay plays: seed and mask, as a report names it, or the seed alone")
	shrinkFlag = flag.String("shrink", "", "with -replay: make the world as small as it can be and have this violation")
	rawFlag    = flag.Bool("raw", false, "tell stories with all that went over the wires")
	survey     = flag.Int("survey", 0, "how many worlds of each violation TestSurvey makes small")
	report     = flag.String("report", "", "write each world's violations to this file: seed and class, a tab between")
)

func TestMain(m *testing.M) {
	flag.Parse()
	// A world makes much garbage and keeps nothing. What lives until the collection
	// after the next would make the heap grow without the limit.
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(256 << 20)
	// A panic in the bridge ends everything: the worlds that were being played are
	// in the traces of playSeed.
	debug.SetTraceback("all")
	os.Exit(m.Run())
}

// playSeed plays the world of a seed.
//
//go:noinline
func playSeed(seed uint64, t *testing.T) (*Plan, *Record, []Violation) {
	plan := Generate(NewReplay(seed))
	rec, found := playOne(t, plan, false)
	return plan, rec, found
}

// playOne plays a world and judges it.
func playOne(t *testing.T, plan *Plan, story bool) (rec *Record, found []Violation) {
	left := ""
	var dirs []string
	defer func() {
		for _, dir := range dirs {
			_ = os.RemoveAll(dir)
		}
	}()
	opts := &PlayOptions{Settle: synctest.Wait, Story: story, Dir: func() string {
		dir, err := os.MkdirTemp(memory(), "world-")
		if err != nil {
			panic(err)
		}
		dirs = append(dirs, dir)
		return dir
	}}
	func() {
		// A bubble whose goroutines do not end panics here, where it was made.
		defer func() {
			if x := recover(); x != nil {
				left = fmt.Sprint(x)
			}
		}()
		synctest.Test(t, func(t *testing.T) {
			var err error
			if rec, err = Play(plan, opts); err != nil {
				t.Fatal(err)
			}
		})
	}()
	if rec == nil {
		return nil, []Violation{{Class: "the world does not end", Detail: left, Turn: -1}}
	}
	rec.Left = left
	return rec, Judge(plan, rec)
}

// memory is a directory that is not on a disk, where there is one, and else the
// one for temporary files: sessions are small, and written often.
func memory() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return ""
}

// fails reports whether a world has a violation of a class, in one of a few
// plays.
func fails(t *testing.T, r Replay, class string) bool {
	plan := Generate(r)
	for range 3 {
		if _, found := playOne(t, plan, false); has(found, class) {
			return true
		}
	}
	return false
}

func has(found []Violation, class string) bool {
	return slices.ContainsFunc(found, func(v Violation) bool { return v.Class == class })
}

// A tally counts violations by class, and keeps the first world of each.
type tally struct {
	mu      sync.Mutex
	count   map[string]int
	least   map[string]Replay
	example map[string]Violation
	reports []string
	seen    map[string]int // what happened at all
	// excused counts the worlds that need an excuse of the judge, needs are the first.
	excused map[string]int
	needs   map[string]Replay
}

func newTally() *tally {
	return &tally{count: map[string]int{}, least: map[string]Replay{}, example: map[string]Violation{}, seen: map[string]int{},
		excused: map[string]int{}, needs: map[string]Replay{}}
}

func (y *tally) add(r Replay, rec *Record, found []Violation, excuses []string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.sight(rec)
	for _, name := range excuses {
		y.excused[name]++
		if old, ok := y.needs[name]; !ok || r.Seed < old.Seed {
			y.needs[name] = r
		}
	}
	counted := map[string]bool{}
	for _, v := range found {
		if counted[v.Class] {
			continue
		}
		counted[v.Class] = true
		y.count[v.Class]++
		y.reports = append(y.reports, fmt.Sprintf("%d\t%s\n", r.Seed, v.Class))
		if old, ok := y.least[v.Class]; !ok || r.Seed < old.Seed {
			y.least[v.Class], y.example[v.Class] = r, v
		}
	}
}

// sight notes what there was in a world, so that a dimension that never happens
// is noticed.
func (y *tally) sight(rec *Record) {
	if rec == nil {
		return
	}
	for _, h := range rec.Happened {
		y.seen[fmt.Sprint("fault ", h.Fault.Kind)]++
	}
	for _, h := range rec.Heard {
		y.seen[fmt.Sprint("heard ", h.Kind)]++
	}
	for _, s := range rec.Said {
		if s.Act != nil {
			y.seen[fmt.Sprint("act ", s.Act.Kind)]++
		}
		if s.Call != nil {
			y.seen[fmt.Sprint("act ", Use)]++
		}
		if s.Ends {
			y.seen["end "+string(s.State)]++
		}
	}
	for _, t := range rec.Turns {
		y.seen["cancelled"] += min(1, int(t.Cancelled))
		for _, s := range t.Shown {
			y.seen[fmt.Sprint("shown ", s.Kind)]++
		}
	}
	y.seen["loaded"] += len(rec.Loaded)
}

// classes are those that were found, the most frequent first.
func (y *tally) classes() []string {
	return slices.SortedFunc(maps.Keys(y.count), func(a, b string) int {
		return cmp.Or(cmp.Compare(y.count[b], y.count[a]), strings.Compare(a, b))
	})
}

// run plays worlds on all processors, and says now and then how far it is.
func (y *tally) run(t *testing.T, first, n uint64) {
	var next atomic.Uint64
	t.Run("play", func(t *testing.T) {
		for w := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint("worker", w), func(t *testing.T) {
				t.Parallel()
				for i := next.Add(1); i <= n; i = next.Add(1) {
					plan, rec, found := playSeed(first+i-1, t)
					var excuses []string
					if testing.Verbose() && rec != nil && len(found) == 0 {
						excuses = Excuses(plan, rec)
					}
					y.add(plan.Replay, rec, found, excuses)
					if i%10000 == 0 {
						t.Logf("%d worlds", i)
					}
				}
			})
		}
	})
}

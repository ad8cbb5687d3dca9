package world

import (
	"bufio"
	"fmt"
	"go/parser"
	gotoken "go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWorlds plays worlds: none has a violation, but for those of classes that
// are known; and each of these still occurs.
func TestWorlds(t *testing.T) {
	y := newTally()
	y.run(t, *firstSeed, *worlds)
	if *report != "" {
		if err := os.WriteFile(*report, []byte(strings.Join(y.reports, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	shown := 0
	for _, class := range y.classes() {
		line := fmt.Sprintf("%6d of %d  %-60s %s  %s", y.count[class], *worlds, class, y.least[class], y.example[class].Detail)
		if issue, ok := known[class]; ok {
			t.Logf("%s (known: %s)", line, issue)
			continue
		}
		t.Errorf("%s", line)
		if shown++; shown <= 3 {
			tellSmallest(t, y.least[class], class)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(y.excused)) {
		t.Logf("%6d of %d need the excuse %-45q first %s", y.excused[name], *worlds, name, y.needs[name])
	}
	if *worlds >= enough && *firstSeed == 0 {
		y.everything(t)
	}
}

// enough worlds have everything in them.
const enough = 4000

// tellSmallest makes a world small that has a violation, and tells its story.
func tellSmallest(t *testing.T, r Replay, class string) {
	small := Shrink(r, func(r Replay) bool { return fails(t, r, class) })
	plan := Generate(small)
	for range 5 {
		rec, found := playOne(t, plan, true)
		if has(found, class) {
			t.Logf("-replay='%s'\n%s", small, Tell(plan, rec, found, *rawFlag))
			return
		}
	}
	t.Logf("-replay='%s' (it does not fail each time)", small)
}

// everything: each fault, act, state and so on has happened in the worlds that
// are played by default.
func (y *tally) everything(t *testing.T) {
	need := []string{"loaded", "cancelled"}
	for k := CutAt; k <= RestartBefore; k++ {
		need = append(need, fmt.Sprint("fault ", k))
	}
	for k := Say; k <= WantsAuth; k++ {
		need = append(need, fmt.Sprint("act ", k))
	}
	for k := HeardPrompt; k <= HeardRead; k++ {
		need = append(need, fmt.Sprint("heard ", k))
	}
	for k := ShownText; k <= ShownGap; k++ {
		need = append(need, fmt.Sprint("shown ", k))
	}
	for _, s := range []State{Completed, InputRequired, Failed, Rejected, Canceled} {
		need = append(need, "end "+string(s))
	}
	for _, what := range need {
		if y.seen[what] == 0 {
			t.Errorf("no world has: %s", what)
		}
	}
}

// TestKept plays each world that ever failed (testdata/worlds.txt) again: none
// fails, but by what is known; and each class that is known occurs in one.
func TestKept(t *testing.T) {
	f, err := os.Open("../../../testdata/worlds.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	occurs, with := map[string]bool{}, map[string][]Replay{}
	for scan := bufio.NewScanner(f); scan.Scan(); {
		name, sentence, ok := strings.Cut(scan.Text(), "# ")
		if strings.TrimSpace(name) == "" {
			continue
		}
		r, err := ParseReplay(name)
		if err != nil || !ok {
			t.Errorf("a line is a replay and a sentence: %q (%v)", scan.Text(), err)
			continue
		}
		class, _, _ := strings.Cut(sentence, ":")
		with[class] = append(with[class], r)
		for _, v := range playOften(t, r, kept) {
			if _, ok := known[v.Class]; !ok {
				t.Errorf("-replay='%s' (%s): %s", r, sentence, v)
			}
			occurs[v.Class] = true
		}
	}
	for _, class := range slices.Sorted(maps.Keys(known)) {
		// Some need the bridge's own chance.
		for i := 0; i < patiently && !occurs[class] && len(with[class]) > 0; i++ {
			occurs[class] = fails(t, with[class][i%len(with[class])], class)
		}
		if !occurs[class] {
			t.Errorf("known, but it does not occur in any world of testdata/worlds.txt any more: %q: take it out of the list", class)
		}
	}
}

const (
	// kept is how often each world that is kept is played: the bridge's own chance
	// is another one each time. patiently is how often more if a class does not
	// occur that should.
	kept      = 3
	patiently = 100
)

// playOften plays a world several times, and returns all that was found.
func playOften(t *testing.T, r Replay, times int) (all []Violation) {
	plan := Generate(r)
	for range times {
		_, found := playOne(t, plan, false)
		all = append(all, found...)
	}
	return all
}

// TestReplay plays the world that -replay names, and tells its story.
func TestReplay(t *testing.T) {
	if *replayFlag == "" {
		t.Skip("-replay names no world")
	}
	r, err := ParseReplay(*replayFlag)
	if seed, notSeed := strconv.ParseUint(*replayFlag, 10, 64); notSeed == nil {
		r, err = NewReplay(seed), nil // all of the world
	}
	if err != nil {
		t.Fatal(err)
	}
	if *shrinkFlag != "" {
		r = Shrink(r, func(r Replay) bool { return fails(t, r, *shrinkFlag) })
	}
	plan := Generate(r)
	rec, found := playOne(t, plan, true)
	t.Logf("-replay='%s'\n%s", r, Tell(plan, rec, found, *rawFlag))
	if len(found) > 0 {
		t.Fail()
	}
}

// TestSurvey makes several worlds of each class of violations small, and lists
// the features that each needs: a class that needs now these, now those has
// several causes.
func TestSurvey(t *testing.T) {
	if *survey == 0 {
		t.Skip("-survey is not given")
	}
	worldsOf := map[string][]Replay{}
	for seed := *firstSeed; seed < *firstSeed+*worlds; seed++ {
		_, _, found := playSeed(seed, t)
		for _, v := range found {
			list := worldsOf[v.Class]
			if len(list) < *survey && !slices.ContainsFunc(list, func(o Replay) bool { return o.Seed == seed }) {
				worldsOf[v.Class] = append(list, NewReplay(seed))
			}
		}
	}
	for _, class := range slices.Sorted(maps.Keys(worldsOf)) {
		seen := map[string]bool{}
		for _, r := range worldsOf[class] {
			small := Shrink(r, func(r Replay) bool { return fails(t, r, class) })
			if needs := fmt.Sprint(small.On.Features()); !seen[needs] {
				seen[needs] = true
				t.Logf("%-60s %-40s %2d of 10 times -replay='%s'", class, needs, often(t, small, class, 10), small)
			}
		}
	}
}

// often counts how often a world fails of n times: the bridge's own chance is in
// it.
func often(t *testing.T, r Replay, class string, n int) (failed int) {
	plan := Generate(r)
	for range n {
		if _, found := playOne(t, plan, false); has(found, class) {
			failed++
		}
	}
	return failed
}

// A replay that is written and read is the same, and gives the same plan.
func TestReplayIsStable(t *testing.T) {
	for seed := range uint64(200) {
		r := NewReplay(seed)
		plan := Generate(r)
		if labels := plan.labels(); len(labels) > 0 {
			r.Removed = labels[len(labels)/2:][:1]
			plan = Generate(r)
		}
		again, err := ParseReplay(r.String())
		if err != nil || !reflect.DeepEqual(r, again) {
			t.Fatalf("%s: read as %s (%v)", r, again, err)
		}
		if !reflect.DeepEqual(plan, Generate(again)) {
			t.Fatalf("%s: another plan", r)
		}
	}
}

// What a plan has removed is not in it; everything else is as it was.
func TestRemove(t *testing.T) {
	for seed := range uint64(60) {
		r := NewReplay(seed)
		before := Generate(r).labels()
		for _, label := range before {
			less := r
			less.Removed = []string{label}
			after := Generate(less).labels()
			if slices.Contains(after, label) {
				t.Errorf("%s: %s is still there", less, label)
			}
			for _, other := range after {
				if !slices.Contains(before, other) {
					t.Errorf("%s: %s is new", less, other)
				}
			}
		}
	}
}

// The judge imports nothing of what it judges.
func TestJudgeStandsAlone(t *testing.T) {
	files, err := filepath.Glob("judge*.go")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if strings.Contains(i.Path.Value, ".") {
				t.Errorf("%s imports %s", file, i.Path.Value)
			}
		}
	}
}

package shapes

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

var (
	worlds = flag.Uint64("worlds", 0, "how many worlds TestSeeds plays; 0: 200, and with -both 600")
	first  = flag.Uint64("seed", 0, "the seed of the first world")
	replay = flag.String("replay", "", "the world that TestReplay plays")
)

// playWorld plays a world and judges it.
func playWorld(t *testing.T, p *Plan) (r *Played, found []Violation, excused []string) {
	var dirs []string
	defer func() {
		for _, dir := range dirs {
			_ = os.RemoveAll(dir)
		}
	}()
	dir := func() string {
		dir, err := os.MkdirTemp(memory(), "seed-")
		if err != nil {
			panic(err)
		}
		dirs = append(dirs, dir)
		return dir
	}
	left := ""
	func() {
		defer func() { // goroutines that do not end panic here
			if x := recover(); x != nil {
				left = fmt.Sprint(x)
			}
		}()
		synctest.Test(t, func(t *testing.T) { r = must.Get(perform(p, dir))(t) })
	}()
	if left != "" {
		return r, []Violation{{"something is left behind", left, -1}}, nil
	}
	found, excused = judgeWorld(p, r)
	return r, found, excused
}

// memory is a directory that is not on a disk, where there is one.
func memory() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// shrink takes out what a violation does not need.
func shrink(t *testing.T, r Replay, class string) Replay {
	for again := true; again; {
		again = false
		for _, label := range Generate(r).Labels {
			less := Replay{r.Seed, append(slices.Clone(r.Out), label)}
			if _, found, _ := playWorld(t, Generate(less)); has(found, class) {
				r, again = less, true
			}
		}
	}
	return r
}

func has(found []Violation, class string) bool {
	return slices.ContainsFunc(found, func(v Violation) bool { return v.Class == class })
}

func TestSeeds(t *testing.T) {
	var mu sync.Mutex
	many, usual := *worlds, *worlds == 0 && *first == 0
	switch {
	case many == 0 && *both:
		many = 600
	case many == 0:
		many = 200
	}
	counts, least, excuses, details := map[string]int{}, map[string]uint64{}, map[string]int{}, map[string]string{}
	wrong := 0
	must.OnAll(t, int(many), func(t *testing.T, i int) {
		seed := *first + uint64(i)
		_, found, excused := playWorld(t, Generate(Replay{Seed: seed}))
		mu.Lock()
		defer mu.Unlock()
		if len(found) > 0 {
			wrong++
		}
		for _, v := range found {
			if was, ok := least[v.Class]; !ok || seed < was {
				least[v.Class], details[v.Class] = seed, v.Detail
			}
			counts[v.Class]++
		}
		for _, name := range excused {
			excuses[name]++
		}
	})
	for _, class := range ByCount(counts) {
		t.Logf("%6d %-50s -replay=%-6d %.120s", counts[class], class, least[class], details[class])
	}
	for _, name := range ByCount(excuses) {
		t.Logf("%6d needed the excuse: %s", excuses[name], name)
	}
	t.Logf("wrong: worlds: %d", wrong)
	if usual && wrong > 0 { // none may be
		t.Errorf("%d of %d worlds are wrong", wrong, many)
	}
}

// TestReplay plays the world that -replay names, made small, and tells what happened.
func TestReplay(t *testing.T) {
	if *replay == "" {
		t.Skip("-replay names no world")
	}
	r := must.Get(ParseReplay(*replay))(t)
	_, found, _ := playWorld(t, Generate(r))
	if len(found) > 0 {
		r = shrink(t, r, cmp.Or(*tells, found[0].Class))
	}
	p := Generate(r)
	played, found, excused := playWorld(t, p)
	t.Logf("-replay='%s' %s, %s\n%s", r, p.Protocol, p.Shape, Tell(p, played))
	t.Logf("excused: %q", excused)
	for _, v := range found {
		t.Errorf("turn %d: %s: %s", v.Turn, v.Class, v.Detail)
	}
}

// TestExcuses: at most 25, each with a reason, and of classes that exist.
func TestExcuses(t *testing.T) {
	must.True(t, len(excuses) <= 25, len(excuses), "excuses")
	for _, e := range excuses {
		must.True(t, e.Reason != "", e.Name, "has no reason")
		for _, class := range e.Classes {
			if !slices.ContainsFunc(questions, func(q question) bool { return q.class == class }) {
				t.Errorf("%s: there is no class %q", e.Name, class)
			}
		}
	}
}

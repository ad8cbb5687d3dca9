package repo

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

var (
	off   = flag.Bool("off", false, "switch each rule off, and tell what it costs: a minute for each")
	only  = flag.String("only", "", "with -off: the rules of these names alone, with commas between")
	peers = flag.String("peers", "", "with -off: count the tests of other people's agents whose names fit, for rules that cost nothing else")
)

// tooLong is for the judges of one rule: without it something may spin.
const tooLong = 10 * time.Minute

// TestRulesCanBeSwitchedOff: each line that holds a rule has a form that can.
func TestRulesCanBeSwitchedOff(t *testing.T) {
	rules := find(t)
	must.True(t, len(rules) != 0, "no rules are found")
}

// TestRules switches off the rules of the code, one at a time, and tells what each costs: how many
// more turns, cuts and ends are wrong than with all rules. With -peers the tests of other people's
// agents count, too. One that costs nothing has no reason.
//
// A line that ends in "// rule: NAME" holds a rule. Switched off
//
//   - an if, or a case without a tag, is false;
//   - a function returns at once: false, 0, "" or nil;
//   - what := defines is false;
//   - what = assigns is without the last operand of its && or ||, and any other statement is
//     not there.
func TestRules(t *testing.T) {
	if !*off {
		t.Skip("-off is not given: it takes a minute for each rule")
	}
	rules := find(t)
	base := judge(t, "")
	t.Logf("with all rules: %s", told(base))
	for _, r := range rules {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), r.name) {
			continue
		}
		overlay := r.overlay(t)
		cost := map[string]int{}
		for name, n := range judge(t, overlay) {
			if more := n - base[name]; more > base[name]/50 { // an agent's and a bridge's chance are in it
				cost[name] = more
			}
		}
		if len(cost) == 0 && *peers != "" {
			if n := failing(t, overlay); n > 0 {
				cost["peers"] = n
			}
		}
		where := fmt.Sprintf("rule %s (%s:%d)", r.name, r.file, r.line)
		if len(cost) == 0 {
			t.Errorf("%s costs nothing", where)
			continue
		}
		t.Logf("%s costs: %s", where, told(cost))
	}
}

func told(counts map[string]int) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(all, "; ")
}

// overlay writes the file that tells the go command to build without a rule.
func (r *rule) overlay(t *testing.T) string {
	dir := t.TempDir()
	file := must.Get(filepath.Abs(r.file))(t)
	changed, list := filepath.Join(dir, "off.go"), filepath.Join(dir, "overlay.json")
	b := must.Get(json.Marshal(map[string]any{"Replace": map[string]string{file: changed}}))(t)
	for name, content := range map[string][]byte{changed: r.off, list: b} {
		must.Do(t, os.WriteFile(name, content, 0o644))
	}
	return list
}

// run runs tests, whose failure is an answer, too.
func run(t *testing.T, dir, overlay string, args ...string) string {
	ctx, stop := context.WithTimeout(t.Context(), tooLong)
	defer stop()
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1", "-v", "-timeout", tooLong.String(), "-overlay", overlay}, args...)...)
	if overlay == "" {
		cmd.Args = slices.DeleteFunc(cmd.Args, func(a string) bool { return a == "-overlay" || a == "" })
	}
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput() // its failure is in there
	return string(out)
}

var (
	counted = regexp.MustCompile(`wrong: (.*): (\d+)`)
	failed  = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)
)

// judge counts what is wrong, by judge.
func judge(t *testing.T, overlay string) map[string]int {
	counts := map[string]int{}
	out := run(t, ".", overlay, "./internal/test/shapes", "-both")
	for _, m := range counted.FindAllStringSubmatch(out, -1) {
		counts[m[1]], _ = strconv.Atoi(m[2])
	}
	if strings.Contains(out, "[build failed]") {
		t.Fatalf("it cannot be built:\n%s", out)
	}
	if strings.Contains(out, "\npanic: ") || strings.Contains(out, "\nfatal error: ") {
		counts["panics"] = 1
	}
	calls := run(t, ".", overlay, "./mapping/calls", "-long")
	for _, m := range counted.FindAllStringSubmatch(calls, -1) {
		counts[m[1]], _ = strconv.Atoi(m[2])
	}
	counts["tests of calls"] = len(failed.FindAllString(calls, -1))
	counts["transcripts"] = len(failed.FindAllString(run(t, ".", overlay, "./bridge", "-run", "Transcript"), -1))
	counts["items, events and recordings"] = len(failed.FindAllString(run(t, ".", overlay, "./mapping/...", "-run", "Rules|Killed|Events|Recordings"), -1))
	return counts
}

// failing counts the tests of other people's agents that fail without a rule, and not
// with it.
func failing(t *testing.T, overlay string) int {
	dir := filepath.Join("testdata", "peers")
	without := failed.FindAllString(run(t, dir, overlay, "-run", *peers), -1)
	if len(without) == 0 {
		return 0
	}
	return len(without) - len(failed.FindAllString(run(t, dir, "", "-run", *peers), -1))
}

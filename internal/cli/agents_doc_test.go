package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestAgentsTable: docs/agents.md states the evidence for each agent. The tests and
// recordings that it names exist, and are of the stated kind. No recording is of an
// agent that it does not name.
func TestAgentsTable(t *testing.T) {
	doc := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "agents.md")))(t)
	recordings, err := filepath.Glob(filepath.Join("..", "..", "testdata", "recordings", "dialects", "*.txt"))
	if err != nil || len(recordings) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	peers := ""
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "peers", "*_test.go"))
	for _, file := range files {
		b := must.Get(os.ReadFile(file))(t)
		peers += string(b)
	}
	named := map[string]bool{}
	rows := 0
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 6 || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| agent ") {
			continue
		}
		rows++
		agent, rests := strings.TrimSpace(cells[0]), cells[4]
		interop, recorded := false, false
		for name := range strings.SplitSeq(cells[5], ",") {
			name = strings.TrimSpace(name)
			if strings.HasPrefix(name, "Test") {
				interop = true
				if !regexp.MustCompile(`(?m)^func ` + name + `\w*\(`).MatchString(peers) {
					t.Errorf("%s: there is no test %s", agent, name)
				}
				continue
			}
			named[name] = true
			recorded = recorded || slices.ContainsFunc(recordings, func(file string) bool { return strings.HasPrefix(filepath.Base(file), name+"-") })
		}
		is := func(word string) bool { return strings.Contains(rests, word) }
		if is("interop") != interop || is("recorded") != (recorded || strings.HasPrefix(agent, "Gemini")) || !is("interop") && !is("recorded") {
			t.Errorf("%s rests on %q: its tests are %q", agent, rests, cells[5])
		}
	}
	if rows < 10 {
		t.Errorf("the table has %d rows", rows)
	}
	for _, file := range recordings {
		found := false
		for name := range named {
			found = found || strings.HasPrefix(filepath.Base(file), name+"-")
		}
		if !found {
			t.Errorf("%s is of no agent in the table", file)
		}
	}
}

package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAgentsTable: docs/agents.md states the evidence for each agent. The tests and
// recordings that it names exist, and are of the stated kind. No recording is of an
// agent that it does not name.
func TestAgentsTable(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	byHand := recordingsByHand(t)
	peers := ""
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "peers", "*_test.go"))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		peers += string(b)
	}
	named := map[string]bool{"stranger": true} // no agent's
	rows := 0
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 6 || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| agent ") {
			continue
		}
		rows++
		agent, rests := strings.TrimSpace(cells[0]), cells[4]
		interop, recorded, written := false, false, false
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
			for file, hand := range byHand {
				if strings.HasPrefix(file, name+"-") {
					recorded, written = recorded || !hand, written || hand
				}
			}
		}
		is := func(word string) bool { return strings.Contains(rests, word) }
		switch {
		case is("interop") != interop:
			t.Errorf("%s rests on %q: its tests are %q", agent, rests, cells[5])
		case is("source") && !written, is("recorded") && !recorded && !strings.HasPrefix(agent, "Gemini"), !is("recorded") && recorded:
			t.Errorf("%s rests on %q: of %q some are recorded: %v, written by hand: %v", agent, rests, cells[5], recorded, written)
		}
	}
	if rows < 20 {
		t.Errorf("the table has %d rows", rows)
	}
	for file := range byHand {
		found := false
		for name := range named {
			found = found || strings.HasPrefix(file, name+"-")
		}
		if !found {
			t.Errorf("%s is of no agent in the table", file)
		}
	}
}

// recordingsByHand lists the recordings, and whether they were written by hand.
func recordingsByHand(t *testing.T) map[string]bool {
	files := conversations(t)
	all := map[string]bool{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		hand := filepath.Base(filepath.Dir(file)) == "written"
		if hand != strings.HasPrefix(string(b), "# Written by hand") {
			t.Errorf("%s: its first line says otherwise than its folder: what was written by hand is in testdata/written", file)
		}
		all[filepath.Base(file)] = hand
	}
	return all
}

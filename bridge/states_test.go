package bridge_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestStatesHaveTranscripts: each row of the table of a turn's states in the
// package comment names the transcripts that show it, and they are there.
func TestStatesHaveTranscripts(t *testing.T) {
	doc := must.Get(os.ReadFile("doc.go"))(t)
	_, table, _ := strings.Cut(string(doc), "# States of a turn")
	table, _, _ = strings.Cut(table, "# Goroutines")
	columns := regexp.MustCompile(`  +`)
	rows := 0
	for line := range strings.Lines(table) {
		row, ok := strings.CutPrefix(strings.TrimSpace(line), "//\t")
		if !ok || strings.HasPrefix(row, "in ") {
			continue
		}
		rows++
		cells := columns.Split(row, -1)
		for name := range strings.SplitSeq(cells[len(cells)-1], ", ") {
			files, err := filepath.Glob("../testdata/transcript/" + name + ".txt")
			if err != nil || len(files) == 0 {
				t.Errorf("no transcript %q shows the row %q", name, row)
			}
		}
	}
	if rows < 15 {
		t.Errorf("the table has only %d rows", rows)
	}
}

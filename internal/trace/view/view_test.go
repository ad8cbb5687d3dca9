package view

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace"
)

var update = flag.Bool("update", false, "write testdata/items.txt anew")

// lines makes items and spans of records, given as their members.
func lines(t *testing.T, records ...string) ([]Item, *Builder) {
	t.Helper()
	var b strings.Builder
	for i, r := range append([]string{`"wire":"bridge","kind":"start","format":2,"run":"r","part":1,"limit":1`}, records...) {
		fmt.Fprintf(&b, `{"n":%d,"t":"2026-01-02T03:04:05Z","us":%d,%s}`+"\n", i+1, i*1000, r)
	}
	reader := must.Get(trace.NewReader(bytes.NewReader([]byte(b.String()))))(t)
	build := NewBuilder()
	var all []Item
	for r, err := range reader.All() {
		must.Do(t, err)
		it := Of(r)
		build.Add(&it)
		all = append(all, it)
	}
	return all[1:], build
}

// TestItems: testdata/items.txt has records, without what a recorder counts. Each is followed by
// its item, and a conversation by its spans.
func TestItems(t *testing.T) {
	const file = "testdata/items.txt"
	var got []string
	for block := range strings.SplitSeq(strings.TrimSpace(string(must.Get(os.ReadFile(file))(t))), "\n\n") {
		all := strings.Split(block, "\n")
		said, records := []string{all[0]}, slices.DeleteFunc(all[1:], func(l string) bool { return strings.HasPrefix(l, "= ") })
		items, b := lines(t, records...)
		for i, record := range records {
			said = append(said, record, "= "+wordsOf(&items[i]))
		}
		if strings.HasPrefix(block, "# spans") {
			for _, s := range b.Spans {
				said = append(said, fmt.Sprintf("= %s %s %d-%d in %d: %s, bad: %v", s.Kind, s.Name, s.First, s.Last, s.Parent, s.Status, s.Bad))
			}
		}
		got = append(got, strings.Join(said, "\n"))
	}
	must.Golden(t, *update, file, strings.Join(got, "\n\n")+"\n")
}

func wordsOf(it *Item) string {
	lanes := map[string]string{LaneEditor: "editor", LaneBridge: "bridge", LaneAgent: "agent"}
	s := fmt.Sprintf("%s>%s %s %s: %s", lanes[it.From], lanes[it.To], it.Type, it.Name, it.Text)
	if it.Session != "" {
		s += " (" + it.Session + ")"
	}
	if it.Task != "" {
		s += " <" + it.Task + ">"
	}
	for _, c := range it.Calls {
		s += " [" + c.ID + " " + c.Status + "]"
	}
	if it.Bad {
		s += " BAD"
	}
	return strings.TrimSpace(s + " " + it.Mark)
}

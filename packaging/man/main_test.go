package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestPage: a page is the help, and the formatter finds nothing to complain of.
func TestPage(t *testing.T) {
	page := manPage("a2astdio-x", `a2astdio x: do it

Does it: 'so', and ~ so.
.not a request

Usage:
  a2astdio x [options] \FILE – and well
`)
	for _, want := range []string{".SH NAME\na2astdio\\-x \\- do it\n", ".nf\nDoes it: ", "\n\\&.not a request\n\nUsage:\n  a2astdio x", "\\eFILE", "\\(aqso\\(aq", "\\[u2013]"} {
		must.Has(t, page, want)
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not here")
	}
	file := filepath.Join(t.TempDir(), "x.1")
	must.Do(t, os.WriteFile(file, []byte(page), 0o600))
	out, err := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z", file).CombinedOutput()
	must.True(t, err == nil && len(out) == 0, err, out)
}

// TestCommands: each command of the program has a page.
func TestCommands(t *testing.T) {
	got := listed("Commands", "\nUsage:\n  x\n\nCommands:\n  trace show    look\n  trace export  keep\n\nmore\n")
	must.True(t, len(got) == 2 && strings.Join(got[1], " ") == "trace export", got)
}

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
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not here")
	}
	file := filepath.Join(t.TempDir(), "x.1")
	must.Do(t, os.WriteFile(file, []byte(page), 0o600))
	if out, err := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v %s", err, out)
	}
}

// TestCommands: each command of the program has a page.
func TestCommands(t *testing.T) {
	got := listed("Commands", "\nUsage:\n  x\n\nCommands:\n  trace show    look\n  trace export  keep\n\nmore\n")
	if len(got) != 2 || strings.Join(got[1], " ") != "trace export" {
		t.Error(got)
	}
}

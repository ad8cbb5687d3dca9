package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestNarrow: a text is broken anew between words, below where it begins.
func TestNarrow(t *testing.T) {
	long := strings.Repeat("word ", 16) + "end"
	for name, c := range map[string]struct{ text, want string }{
		"short":         {"a b\n", "a b\n"},
		"blank lines":   {"a\n\nb\n", "a\n\nb\n"},
		"paragraph":     {strings.Repeat("word ", 15) + "wo\nword end.\nNew.\n", strings.Repeat("word word word word\n", 3) + "word word word wo\nword end.\nNew.\n"},
		"columns":       {"task      word word word\n          below\n", "task      word word\n          word\n          below\n"},
		"two columns":   {"ok  it  word word word\n", "ok  it  word word\n        word\n"},
		"no room":       {"a2astdio --agent URL  says what\n", "a2astdio --agent URL\n        says what\n"},
		"a command":     {"  a2astdio --agent URL send hello\n", "  a2astdio --agent URL send hello\n"},
		"a long word":   {"see https://example.com/a/long/address now\n", "see\nhttps://example.com/a/long/address\nnow\n"},
		"other columns": {"äöü       word word word\n", "äöü       word word\n          word\n"},
	} {
		if got := narrow(c.text, 20, raggedness); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
		if got := narrow(c.text, 80, 0); got != c.text {
			t.Errorf("%s: changed for 80 columns", name)
		}
	}
	out := &page{}
	out.field("takes", long)
	out.heading("And")
	out.text(2, "one\ntwo")
	want := "takes         word word word word word\n" + strings.Repeat("              word word word word word\n", 2) +
		"              word end\n\nAnd\n  one\n  two\n"
	if got := narrow(out.String(), 40, 0); got != want {
		t.Errorf("a page:\n%s\nwant:\n%s", got, want)
	}
}

// TestNarrowHelp: no help has a line longer than 40 columns, except commands and longer
// words; and none loses a word.
func TestNarrowHelp(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "help", "*.txt"))
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := narrow(string(raw), 40, raggedness)
		for line := range strings.Lines(got) {
			line = strings.TrimRight(line, "\n")
			words := strings.Fields(line)
			command := strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   ")
			if utf8.RuneCountInString(line) > 40 && len(words) > 1 && !command {
				t.Errorf("%s: %q", file, line)
			}
		}
		if a, b := strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(string(raw)), " "); a != b {
			t.Errorf("%s: other words", file)
		}
	}
}

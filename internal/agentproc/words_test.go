package agentproc

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		in      string
		windows bool
		env     string // joined with |
		words   string
	}{
		{in: `npx -y @google/gemini-cli-a2a-server`, words: `npx|-y|@google/gemini-cli-a2a-server`},
		{in: `  A=1 B_2='x y' run  C=3 `, env: `A=1|B_2=x y`, words: `run|C=3`},
		{in: `"A"=1 x`, words: `A=1|x`},
		{in: `A\=1 x`, words: `A=1|x`},
		{in: `2A=1 x`, words: `2A=1|x`},
		{in: `A= run`, env: `A=`, words: `run`},
		{in: `run '' ""`, words: `run||`},
		{in: `run 'a"b' "a'b" a\ b a'b'"c"d`, words: `run|a"b|a'b|a b|abcd`},
		{in: `run "a\"b\\c\d" '\n'`, words: `run|a"b\c\d|\n`},
		{in: `run '$HOME' \$HOME "\$HOME" 5$ $5 'a|b' "a;b" x~`, words: `run|$HOME|$HOME|$HOME|5$|$5|a@b|a;b|x~`},
		{in: "run \\\n  --port 1", words: "run|--port|1"},
		{in: "\n run", words: "run"},
		{in: `run --port={port} été`, words: `run|--port={port}|été`},
		{in: `"C:\Program Files\a.exe" C:\x\ \"q`, windows: true, words: `C:\Program Files\a.exe|C:\x\|"q`},
	} {
		env, words, err := splitWords(c.in, c.windows)
		got := strings.Join(env, "|") + "→" + strings.ReplaceAll(strings.Join(words, "§"), "|", "@")
		if want := c.env + "→" + strings.ReplaceAll(c.words, "|", "§"); err != nil || got != want {
			t.Errorf("%s\n got %s %v\nwant %s", c.in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		``: "names no program", `A=1`: "names no program", `'a`: "not closed", `a "b`: "not closed", `a \`: "backslash",
		`a | b`: "'|'", `a && b`: "'&'", `a > b`: "'>'", `a; b`: "';'", "a `b`": "`b", "a\nb": `'\n'`,
		`a $HOME`: `"$H"`, `a "$HOME"`: `"$H"`, `a ${x}`: `"${"`, `a $(b)`: `"$("`, `~/a`: "~",
	} {
		if _, _, err := splitWords(in, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: err = %v, want %s", in, err, want)
		}
	}
}

// FuzzSplitWords: words that are quoted come back as they are.
func FuzzSplitWords(f *testing.F) {
	f.Add("a b", `c'"\d`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return // a command line is text
		}
		_, _, _ = splitWords(a, true)
		quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
		_, words, err := splitWords(quote(a)+" "+quote(b), false)
		if err != nil || !slices.Equal(words, []string{a, b}) {
			t.Errorf("%q %q: %q, %v", a, b, words, err)
		}
	})
}

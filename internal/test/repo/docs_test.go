package repo

import (
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// documents are all documents for people, with their paths.
func documents(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for path := range files(t, ".md") {
		all[path] = []byte(read(t, path))
	}
	if len(all) < 10 {
		t.Fatalf("%d documents", len(all))
	}
	all["testdata/help.txt"] = []byte(read(t, "testdata/help.txt"))
	return all
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	code    = regexp.MustCompile("`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
)

// TestLinks: what a document links to in this repository is there, sections too.
// Links to elsewhere are not asked for: a test needs no network.
func TestLinks(t *testing.T) {
	docs := documents(t)
	found := 0
	for path, text := range docs {
		text = code.ReplaceAll(fence.ReplaceAll(text, nil), nil)
		for _, m := range link.FindAllSubmatch(text, -1) {
			to, err := url.Parse(string(m[1]))
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if to.Scheme != "" || to.Host != "" {
				continue
			}
			found++
			target := path
			if to.Path != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(path), to.Path))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			} else if to.Fragment != "" && !slices.Contains(anchors(docs[target]), to.Fragment) {
				t.Errorf("%s links to %s: there is no such section", path, m[1])
			}
		}
	}
	must.True(t, found != 0, "no document links to another")
}

// anchors are the names that Markdown viewers give to a document's sections.
func anchors(text []byte) []string {
	var all []string
	for _, m := range heading.FindAllSubmatch(fence.ReplaceAll(text, nil), -1) {
		name := strings.ToLower(string(m[1]))
		name = strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
				return r
			}
			return -1
		}, name)
		all = append(all, name)
	}
	return all
}

var (
	proseWord = regexp.MustCompile(`[\pL']+`)
	notProse  = regexp.MustCompile(`https?://\S+|\S*[/\\_=<>{}@$|]\S*|\S*\w\.\w\S*|--?[a-z][\w-]*|\S*\d\S*|\[[^\]]*\]\(#?[^)]*\)`)
	camel     = regexp.MustCompile(`\pL\p{Lu}|^\p{Lu}+s?$`)
)

// TestSpelling: aspell knows every word of the documents, in British or American
// spelling, or testdata/words.txt has it, one a line, sorted: names, and terms of the
// field. Code, names and addresses are no words, nor is what has a capital letter
// inside.
func TestSpelling(t *testing.T) {
	if out, err := exec.Command("aspell", "-l", "en_GB", "list").CombinedOutput(); err != nil {
		t.Skipf("no spell-check: aspell and its English dictionary are not here: %v %s", err, out)
	}
	file := must.Get(os.ReadFile(filepath.Join("testdata", "words.txt")))(t)
	listed := strings.Fields(string(file))
	must.True(t, slices.IsSorted(listed), "testdata/words.txt is not sorted")
	where := map[string]string{}
	for path, text := range documents(t) {
		text = code.ReplaceAll(fence.ReplaceAll(text, nil), []byte(" "))
		for _, word := range proseWord.FindAllString(string(notProse.ReplaceAll(text, []byte(" "))), -1) {
			word = strings.TrimSuffix(strings.Trim(word, "'"), "'s")
			if len(word) > 1 && !camel.MatchString(word) {
				where[strings.ToLower(word)] = path
			}
		}
	}
	for _, word := range listed {
		must.True(t, where[word] != "", "testdata/words.txt: no document has", word)
	}
	unknown := slices.Sorted(maps.Keys(where))
	for _, language := range []string{"en_GB", "en_US"} {
		check := exec.Command("aspell", "-l", language, "--encoding=utf-8", "--ignore-case", "list")
		check.Stdin = strings.NewReader(strings.Join(unknown, "\n"))
		out := must.Get(check.Output())(t)
		unknown = strings.Fields(string(out))
	}
	for _, word := range unknown {
		must.True(t, slices.Contains(listed, word), word, "a mistake, or a word for testdata/words.txt?", where[word])
	}
}

package setup

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

var update = flag.Bool("update", false, "rewrite docs/editors.md")

// TestEditorsDocument: docs/editors.md has the settings that setup --editor prints, for an
// agent with a token.
func TestEditorsDocument(t *testing.T) {
	const path = "../../../docs/editors.md"
	doc := must.Get(os.ReadFile(path))(t)
	text := string(doc)
	heads := map[string]string{} // of each file
	for _, e := range editorSettings {
		heads[e.file] = strings.TrimPrefix(heads[e.file]+", "+e.name, ", ")
	}
	for _, e := range editorSettings {
		l := &launch{name: "A2A", command: "a2astdio", args: []string{"--agent", "http://localhost:41242"}, headers: []string{"Authorization: Bearer TOKEN"}}
		if e.file == "jetbrains.json" {
			l.command = "/usr/local/bin/a2astdio"
		}
		settings := must.Get(settingsOf(e.file, l))(t)
		_, language, _ := strings.Cut(e.file, ".")
		head := "<!-- setup --editor " + heads[e.file] + " -->\n"
		block := head + "\n```" + strings.Replace(language, "el", "elisp", 1) + "\n" + settings + "```\n"
		at := strings.Index(text, head)
		if at < 0 && strings.Contains(text, "`"+e.name+"`") {
			continue // the document says that setup prints them
		}
		if at < 0 {
			t.Fatalf("%s has no %s", path, head)
		}
		end := at + strings.Index(text[at:], "\n```\n") + len("\n```\n")
		if *update {
			text = text[:at] + block + text[end:]
		} else if text[at:end] != block {
			t.Errorf("%s has other settings for %s (-update rewrites them):\n%s", path, e.name, text[at:end])
		}
	}
	if *update {
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// What the user has typed stays as it is, in each language.
func TestSettingsOf(t *testing.T) {
	for _, e := range editorSettings {
		text, err := settingsOf(e.file, &launch{args: []string{"a \"{  }\",  }\t"}})
		if err != nil || !strings.Contains(text, `"a \"{  }\",  }\t"`) {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

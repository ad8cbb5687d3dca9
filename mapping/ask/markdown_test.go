package ask

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// swallows are texts that hide what stands behind, or between them and a matching end,
// where they are taken for Markdown.
var swallows = []string{"", "plain", "<!--", "<details><summary>", "```", "~~~~", "$$", "[a]: /u (", "[a]: /u \"", "![x", "[x][", "](/u)",
	"<![CDATA[", "]]>", "<?", "<script>", "| a | b |\n|---|---|\n| x |", "===", "---", "> ", "- ", "1. ", "    code", "\t", "`", "``", "a`b``c", "\\",
	"<a href='", "'>", ")", "\"", "text\n\n\n", "#", "\r", "\u2028", "\x00", "\x1b]8;;", "&lt;", "  \n", "Run:", "Warning: none", "\n\nIn: `/tmp`\n\n", "**", "^", "[^1]: x", "*[a]: b"}

// FuzzMarkdown: whatever a call holds, its question has all our lines, whole and in their
// order: a renderer of CommonMark, with GitHub's extensions, makes a paragraph of each, and
// what the agent says is the text of code and of nothing else.
func FuzzMarkdown(f *testing.F) {
	for i := range swallows {
		at := func(n int) string { return swallows[(i*7+n*11)%len(swallows)] }
		f.Add(at(0), at(1), at(2), at(3), at(4), at(5))
		f.Add(swallows[i], "ls", "/w", swallows[i], swallows[i], "")
	}
	f.Fuzz(func(t *testing.T, command, dir, name, description, option, formatted string) {
		for _, text := range []*string{&command, &dir, &name, &description, &option, &formatted} {
			*text = strings.ToValidUTF8(*text, "\ufffd")
		}
		c := &calls.ToolCall{Name: name, Description: description, Input: inputOf(map[string]string{"dir_path": dir, "env": option, "x": formatted}),
			Confirmation: &calls.Confirmation{Execute: &calls.ExecuteDetails{Command: command}, MCP: &calls.MCPDetails{ServerName: dir, ToolName: option},
				Edit: &calls.FileDiff{FilePath: dir, FileName: description, Formatted: formatted}, Generic: &calls.GenericDetails{Description: option},
				Unread: inputOf(map[string]string{"more": name})}}
		options := []Option{{Name: name, Description: option}, {Name: "Allow", Description: description}}
		text := Markdown(c, options)
		var got bytes.Buffer
		if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		lines := Lines(c, options)
		if formatted != "" {
			at := slices.IndexFunc(append(lines, Line{Said: true}), func(l Line) bool { return l.Said })
			lines = slices.Insert(lines, at, Line{Label: "the change", Text: FirstLines(formatted), Language: "diff", Block: true})
		}
		if want := pageOf(lines); got.String() != want {
			t.Errorf("the question\n%s\nis shown as\n%s\nwant\n%s", text, got.String(), want)
		}
	})
}

// pageOf is how lines look, as HTML.
func pageOf(lines []Line) string {
	var b strings.Builder
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
	for _, l := range lines {
		label := escape.Replace(strings.ToUpper(l.Label[:1]) + l.Label[1:])
		class := ""
		if l.Language != "" {
			class = ` class="language-` + l.Language + `"`
		}
		switch {
		case l.Text == "":
			b.WriteString("<p>" + label + ".</p>\n")
		case !l.Block && isShort(l.Text):
			b.WriteString("<p>" + label + ": <code>" + escape.Replace(l.Text) + "</code></p>\n")
		default:
			b.WriteString("<p>" + label + ":</p>\n<pre><code" + class + ">" + escape.Replace(l.Text) + "\n</code></pre>\n")
		}
	}
	return b.String()
}

func inputOf(members map[string]string) a2a.JSON {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(members)) {
		value := members[key]
		b.WriteString(`,"` + key + `":` + `"` + string(rawjson.AppendEscaped(nil, value)) + `"`)
	}
	return a2a.JSON("{" + b.String()[1:] + "}")
}

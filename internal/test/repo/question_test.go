package repo

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping/ask"
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
	for _, in := range hostile() {
		f.Add(in[0], in[1], in[2], in[3], in[4], in[5])
	}
	f.Fuzz(func(t *testing.T, command, dir, name, description, option, formatted string) {
		for _, text := range []*string{&command, &dir, &name, &description, &option, &formatted} {
			*text = strings.ToValidUTF8(*text, "\ufffd")
		}
		text, page := hostileQuestion(command, dir, name, description, option, formatted)
		var got bytes.Buffer
		must.Do(t, goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(text), &got))
		if got.String() != page {
			t.Errorf("the question\n%s\nis shown as\n%s\nwant\n%s", text, got.String(), page)
		}
	})
}

// hostile are texts of calls: command, directory, name, description, option, change.
func hostile() (all [][6]string) {
	for i, text := range swallows {
		var in [6]string
		for n := range in {
			in[n] = swallows[(i*7+n*11)%len(swallows)]
		}
		all = append(all, in, [6]string{text, "ls", "/w", text, text, ""})
	}
	return all
}

// hostileQuestion is the question of a call that asks for all at once, and how it is to look.
func hostileQuestion(command, dir, name, description, option, formatted string) (text, page string) {
	c := &calls.ToolCall{Name: name, Description: description, Input: inputOf(map[string]string{"dir_path": dir, "env": option, "x": formatted}),
		Confirmation: &calls.Confirmation{Execute: &calls.ExecuteDetails{Command: command}, MCP: &calls.MCPDetails{ServerName: dir, ToolName: option},
			Edit: &calls.FileDiff{FilePath: dir, FileName: description, Formatted: formatted}, Generic: &calls.GenericDetails{Description: option},
			Unread: inputOf(map[string]string{"more": name})}}
	options := []ask.Option{{Name: name, Description: option}, {Name: "Allow", Description: description}}
	text = ask.Markdown(c, options)
	lines := ask.Lines(c, options)
	if formatted != "" {
		at := slices.IndexFunc(append(lines, ask.Line{Said: true}), func(l ask.Line) bool { return l.Said })
		lines = slices.Insert(lines, at, ask.Line{Label: "the change", Text: ask.FirstLines(formatted), Language: "diff", Block: true})
	}
	return text, pageOf(lines)
}

// TestQuestionPages holds the questions of the fuzz law's seeds, and how they look: other
// renderers of Markdown are held to the same pages (testdata/peers).
func TestQuestionPages(t *testing.T) {
	type page struct{ Markdown, HTML string }
	var pages []page
	for _, in := range hostile() {
		text, html := hostileQuestion(in[0], in[1], in[2], in[3], in[4], in[5])
		pages = append(pages, page{text, html})
	}
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	must.Do(t, enc.Encode(pages))
	must.Golden(t, *update, "testdata/questions.json", got.String())
}

// pageOf is how lines look, as HTML.
func pageOf(lines []ask.Line) string {
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

// isShort reports whether a text stands in a line, as a span of code.
func isShort(text string) bool {
	return utf8.RuneCountInString(text) <= ask.TitleMax && !strings.ContainsAny(text, "`\n\t") && strings.TrimSpace(text) == text &&
		!strings.Contains(text, "  ")
}

func inputOf(members map[string]string) a2a.JSON {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(members)) {
		value := members[key]
		b.WriteString(`,"` + key + `":` + `"` + string(rawjson.AppendEscaped(nil, value)) + `"`)
	}
	return a2a.JSON("{" + b.String()[1:] + "}")
}

package ask

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/calls"
)

// inputMax is how much of a call's input a question shows: more than anybody
// reads. What is left out is counted.
const inputMax = 16 << 10

// Text says, as Markdown, all that the user is asked about beside the diff:
// whole, with what may mislead made visible, since what is approved must be what
// was seen. cwd is the session's directory.
func Text(c *calls.ToolCall, cwd string) string {
	q := c.Confirmation
	if q == nil {
		return c.Description
	}
	var t questionText
	if q.Kinds() > 1 {
		t.line("Warning: the agent asks for several things at once, and one answer allows them all.")
	}
	if d := strings.TrimSpace(c.Description); d != "" && (q.Execute == nil || d != strings.TrimSpace(q.Execute.Command)) {
		t.line(prose(d))
	}
	if q.Execute != nil {
		t.block("", q.Execute.Command)
		if dir := commandDirectory(c); dir != "" && filepath.Clean(dir) != filepath.Clean(cwd) {
			t.line("in " + prose(dir))
		}
	}
	if q.Edit != nil {
		t.edit(q.Edit)
	}
	if q.MCP != nil {
		t.line(fmt.Sprintf("tool %s of the MCP server %s", Named(prose(q.MCP.ToolName)), Named(prose(q.MCP.ServerName))))
	}
	if q.Generic != nil && strings.TrimSpace(q.Generic.Description) != strings.TrimSpace(c.Description) {
		t.line(prose(q.Generic.Description))
	}
	described := q.Execute != nil || q.Edit != nil || q.Generic != nil && q.Generic.Kind != ""
	if !described && len(c.Input) > len("{}") {
		t.json(string(c.Input))
	}
	if q.Unread != "" {
		t.line("The agent also says of it:")
		t.json(string(q.Unread))
	}
	for _, w := range Warnings(c) {
		t.line("Warning: " + prose(w))
	}
	return t.String()
}

// OptionsText lists the options that are described, beside their names.
func OptionsText(options []Option) string {
	var t questionText
	for _, o := range options {
		if o.Description != "" {
			t.line("\n**" + prose(OneLine(o.Name)) + "**: " + prose(o.Description))
		}
	}
	if t.Len() == 0 {
		return ""
	}
	return "\n" + t.String()
}

// Warnings returns what the user must know of a question beside its details: that
// the call's input names something else than they do, and that text holds
// characters which do not show.
func Warnings(c *calls.ToolCall) (warnings []string) {
	for _, x := range conflicts(c) {
		warnings = append(warnings, fmt.Sprintf("the tool's input names another %s: %s", x.what, Visible(x.input)))
	}
	if q := c.Confirmation; q != nil && q.Edit != nil {
		if name := q.Edit.FileName; name != "" && !samePath(name, q.Edit.FilePath) {
			warnings = append(warnings, "the agent calls the file "+Visible(name))
		}
		if n := countHidden(q.Edit.NewContent); n > 0 {
			warnings = append(warnings, fmt.Sprintf("the new text has %d characters that do not show, or change the order of those that do", n))
		}
	}
	return warnings
}

// commandDirectory is where a command runs: as it is asked for, or as the tool is
// told.
func commandDirectory(c *calls.ToolCall) (dir string) {
	if dir = c.Confirmation.Execute.WorkingDirectory; dir != "" {
		return dir
	}
	eachDeep(string(c.Input), inputDepth, func(key, value string) {
		if dir == "" && isDirectoryKey(key) && rawjson.IsString(value) {
			dir = calls.StringOf(value)
		}
	})
	return dir
}

// prose escapes an agent's text for a line of Markdown, so that it cannot hide what
// follows: HTML (an open comment or <details> hides the rest) and fences of code and
// formulas show as they are.
func prose(s string) string {
	var b strings.Builder
	for line := range strings.Lines(Visible(s)) {
		text := strings.TrimLeft(line, " ")
		b.WriteString(line[:len(line)-len(text)])
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") || strings.HasPrefix(text, "$$") {
			b.WriteByte('\\')
		}
		for i := range len(text) {
			if text[i] == '<' && i+1 < len(text) && (text[i+1] >= 'A' || strings.IndexByte("!/?", text[i+1]) >= 0) {
				b.WriteString("&lt;")
			} else {
				b.WriteByte(text[i])
			}
		}
	}
	return b.String()
}

// A questionText is Markdown that is written line by line.
type questionText struct{ strings.Builder }

func (t *questionText) line(s string) {
	if s == "" {
		return
	}
	if t.Len() > 0 {
		t.WriteByte('\n')
	}
	t.WriteString(s)
}

// block adds text as it is, whatever it holds.
func (t *questionText) block(language, text string) {
	text = Visible(strings.TrimRight(text, "\n"))
	fence := strings.Repeat("`", max(LongestRow(text, '`')+1, 3))
	t.line(fence + language + "\n" + text + "\n" + fence)
}

func (t *questionText) json(raw string) {
	raw, rest := Split(strings.TrimSpace(gjson.Get(raw, "@pretty").Raw), inputMax)
	if rest != "" {
		raw += MoreNote(len(rest))
	}
	t.block("json", raw)
}

// edit adds a change that the agent sends as formatted text alone, of which there is no
// diff.
func (t *questionText) edit(d *calls.FileDiff) {
	if d.NewContent == "" && d.OldContent == nil && d.Formatted != "" {
		t.line(prose(d.FilePath))
		t.block("diff", d.Formatted)
	}
}

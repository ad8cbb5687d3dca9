package ask

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// The limits of what is shown, the same for every editor. What is asked is shown at its
// beginning and its end, what the agent says of it at its beginning.
const (
	askedMax    = 20_000  // characters of a command, a path, a directory, an input
	saidMax     = 4_000   // characters of a text of the agent's
	choicesMax  = 20_000  // characters of the descriptions of all options
	warningMax  = 200     // characters of the value in a warning
	warningsMax = 8       // conflicts with the input that are told one by one
	prettyMax   = 8 << 10 // bytes of JSON that is shown with indentation
	lineMax     = 1_000   // characters of a line of a change
	prettyDepth = 100     // arrays and objects in it
	// ChangeMax is how many bytes each text of a change may have to be shown whole.
	ChangeMax = 1 << 20
	// ChangeLines is how many lines of a change are shown where it is shown as lines.
	ChangeLines = 400
)

// A Line is a part of what the user is shown of a question. All that is the agent's is
// in Text: a label is ours. In a Text of several lines, each is the agent's.
type Line struct {
	Label    string
	Text     string // with what does not show made visible, and shortened
	Language string // of Text: json, diff, or none
	Block    bool   // Text stands by itself, however short it is
	Said     bool   // Text is the agent's prose
}

// Lines says what the user is asked: first what is to be done, in which directory, with
// which environment and arguments, and what the user must be warned of, in this order;
// last what the agent says of it, and of the options. The change of a file, which stands
// between these, is not among them: see [calls.Confirmation].
func Lines(c *calls.ToolCall, options []Option) []Line {
	s := sheetOf(c)
	s.lines = append(s.lines, warnings(c)...)
	if s.left > 0 {
		s.lines = slices.Insert(s.lines, 0, Line{Label: "warning: " + characters(s.left) + " of what is asked are not shown"})
	}
	if q := c.Confirmation; q == nil || q.Execute == nil || strings.TrimSpace(c.Description) != strings.TrimSpace(q.Execute.Command) {
		s.addSaid("the agent says", c.Description)
	}
	var said strings.Builder
	for _, o := range options {
		if o.Description != "" && said.Len() <= choicesMax*utf8.UTFMax {
			fmt.Fprintf(&said, "%s: %s\n", OneLine(o.Name), beginningOnly(o.Description, saidMax))
		}
	}
	if said.Len() > 0 {
		s.add(Line{Label: "of the options", Text: beginningOnly(strings.TrimSuffix(said.String(), "\n"), choicesMax), Block: true, Said: true})
	}
	return s.lines
}

// Left is how many characters of what a call asks are not shown.
func Left(c *calls.ToolCall) int { return sheetOf(c).left }

// IsInInput reports whether what a call asks stands in its input as it is, or is shown
// whole beside an input that says more.
func IsInInput(c *calls.ToolCall) bool {
	q := c.Confirmation
	if len(c.Input) <= len("{}") {
		return false
	}
	if (q.Execute == nil || q.Unread != "" || c.Extra != "") && Left(c) > 0 {
		return false
	}
	found := q.Execute == nil
	eachMemberDeep(string(c.Input), inputDepth, func(_, value string) {
		found = found || rawjson.IsString(value) && calls.StringOf(value) == q.Execute.Command
	})
	return found
}

// CommandOnly returns the command that a call asks for, and where it would run, if there is nothing
// else to show and nothing to warn of, for an editor that shows both as they are; else "".
func CommandOnly(c *calls.ToolCall) (command, dir string) {
	if c.Confirmation == nil || c.Confirmation.Execute == nil || len(warnings(c)) > 0 {
		return "", ""
	}
	command, dir = c.Confirmation.Execute.Command, c.Confirmation.Execute.WorkingDirectory
	var all, what = sheetOf(c), sheet{}
	what.addWhat(c)
	if len(what.lines) < len(all.lines) || escapeBlanks(Visible(command+dir)) != command+dir {
		return "", ""
	}
	return command, dir
}

// A sheet is what the user is shown of a question, line by line.
type sheet struct {
	lines []Line
	left  int // characters that are not shown
}

// sheetOf says what a call asks, without warnings.
func sheetOf(c *calls.ToolCall) (s sheet) {
	if q := c.Confirmation; q != nil {
		s.addWhat(c)
		s.addWith(c)
		for _, more := range [...]a2a.JSON{q.Unread, c.Extra} {
			if more != "" {
				s.addJSON("the agent also says", string(more), s.showExactly)
			}
		}
	}
	return s
}

func (s *sheet) add(l Line) { s.lines = append(s.lines, l) }

// addAsked adds a text of what is to be done, on a line with that label.
func (s *sheet) addAsked(label, text string) {
	s.add(Line{Label: label, Text: Named(s.showExactly(strings.TrimRight(text, "\n")))})
}

// addJSON adds JSON of what is to be done, with indentation if it is small, as show has it shown.
func (s *sheet) addJSON(label, raw string, show func(string) string) {
	if len(raw) <= prettyMax && strings.Count(raw, "[")+strings.Count(raw, "{") <= prettyDepth {
		raw = strings.TrimSpace(gjson.Get(raw, "@pretty").Raw)
	}
	s.add(Line{Label: label, Text: show(raw), Language: "json", Block: true})
}

// showExactly is showEnds for what a program reads, with [escapeBlanks].
func (s *sheet) showExactly(text string) string { return escapeBlanks(s.showEnds(text)) }

// showEnds returns [beginningAndEnd] of a text of what is to be done, and counts what is left out.
func (s *sheet) showEnds(text string) string {
	shown, left := beginningAndEnd(text, askedMax)
	s.left += left
	return shown
}

// addSaid adds what the agent says, if anything.
func (s *sheet) addSaid(label, text string) {
	if text = strings.TrimSpace(text); text != "" {
		s.add(Line{Label: label, Text: beginningOnly(text, saidMax), Block: true, Said: true})
	}
}

// addWhat adds what is to be done, and where.
func (s *sheet) addWhat(c *calls.ToolCall) {
	q := c.Confirmation
	if name := cmp.Or(c.Name, c.DisplayName); name != "" && q.MCP == nil {
		s.addAsked("tool", name)
	}
	if q.Execute != nil {
		s.addAsked("run", q.Execute.Command)
		s.lines[len(s.lines)-1].Block = true
		if dir := commandDirectory(c); dir != "" {
			s.addAsked("in", dir)
		}
	}
	if q.Edit != nil {
		s.addAsked("write", q.Edit.FilePath)
		s.left += max(len(q.Edit.NewContent)-ChangeMax, 0)
		if old := q.Edit.OldContent; old != nil {
			s.left += max(len(*old)-ChangeMax, 0)
		}
	}
	if q.MCP != nil {
		s.addAsked("tool", q.MCP.ToolName)
		s.addAsked("MCP server", q.MCP.ServerName)
	}
	if q.Generic != nil && strings.TrimSpace(q.Generic.Description) != "" {
		s.add(Line{Label: "asks", Text: Named(s.showEnds(strings.TrimRight(q.Generic.Description, "\n")))}) // prose, with its blanks
	}
}

// addWith adds what the call is given beside that.
func (s *sheet) addWith(c *calls.ToolCall) {
	q := c.Confirmation
	if q.Execute == nil && q.Edit == nil {
		if len(c.Input) > len("{}") && (q.Generic == nil || q.Generic.Kind != "ask_user") { // whose input is the question
			s.addJSON("with", string(c.Input), s.showEnds) // which may be prose, with its blanks
		}
		return
	}
	if raw := string(c.Input); raw != "" && raw != "null" && !rawjson.IsObject(raw) {
		s.addJSON("with", raw, s.showExactly)
		return
	}
	dir := commandDirectory(c)
	var env, args, rest []byte
	rawjson.EachMember(string(c.Input), func(key, value string) bool {
		switch {
		case value == "null" || isShown(q, dir, key, value):
		case key == "env" || key == "environment":
			env = rawjson.AppendMember(env, key, value)
		case key == "args" || key == "arguments" || key == "argv":
			args = rawjson.AppendMember(args, key, value)
		default:
			rest = rawjson.AppendMember(rest, key, value)
		}
		return true
	})
	for _, members := range [...][]byte{env, args, rest} {
		if members != nil {
			s.addJSON("with", rawjson.EndObject(members), s.showExactly)
		}
	}
}

// isShown reports whether a member of a call's input need not be shown: it says what is to be done, or
// where (dir), is in the change, or only describes it.
func isShown(q *calls.Confirmation, dir, key, value string) bool {
	if !rawjson.IsString(value) {
		return false
	}
	text := calls.StringOf(value)
	switch {
	case key == "description":
		return true
	case q.Execute != nil && isCommandKey(key):
		return text == q.Execute.Command
	case q.Execute != nil && isDirectoryKey(key):
		return text == dir
	case q.Edit != nil && isPathKey(key):
		return samePath(text, q.Edit.FilePath)
	}
	return q.Edit != nil && slices.Contains(contentKeys, key)
}

// warnings are what the user must know beside what is asked: our words, and the agent's.
func warnings(c *calls.ToolCall) (list []Line) {
	q := c.Confirmation
	if q == nil {
		return nil
	}
	add := func(label, text string) {
		text, _ = beginningAndEnd(text, warningMax)
		list = append(list, Line{Label: "warning: " + label, Text: text})
	}
	if q.Kinds() > 1 {
		add("the agent asks for several things at once, and one answer allows them all", "")
	}
	for i, x := range conflicts(c) {
		if i == warningsMax {
			add("the tool's input names further ones", "")
			break
		}
		add("the tool's input names another "+x.what, x.input)
	}
	if q.Edit != nil {
		if name := q.Edit.FileName; name != "" && !samePath(name, q.Edit.FilePath) {
			add("the agent calls the file", name)
		}
		if otherContent(c) {
			add("the tool's input holds another text than the change", "")
		}
		if n := countHidden(q.Edit.NewContent); n > 0 {
			add(fmt.Sprintf("the new text has %s that do not show, or change the order of those that do", characters(n)), "")
		}
	}
	for _, text := range spoofable(c) {
		text, _ = beginningAndEnd(text, askedMax)
		if word, scripts := mixedWord(text); word != "" {
			add("a word mixes "+scripts+" letters", word)
		}
	}
	return list
}

// spoofable are the texts of a call in which a letter may be put for another that looks like it.
func spoofable(c *calls.ToolCall) []string {
	q := c.Confirmation
	list := []string{c.Name, c.DisplayName}
	if q.Execute != nil {
		list = append(list, q.Execute.Command, commandDirectory(c))
	}
	if q.Edit != nil {
		list = append(list, q.Edit.FilePath)
	}
	if q.MCP != nil {
		list = append(list, q.MCP.ServerName, q.MCP.ToolName)
	}
	for _, o := range q.Options {
		list = append(list, o.Name)
	}
	return list
}

// otherContent reports whether the input holds another text for the file than the change
// has. The agent may mean well: Gemini's server mends what its model has escaped wrongly.
func otherContent(c *calls.ToolCall) (other bool) {
	rawjson.EachMember(string(c.Input), func(key, value string) bool {
		other = slices.Contains(wholeKeys, key) && rawjson.IsString(value) && c.Confirmation.Edit.NewContent != "" &&
			strings.TrimSpace(calls.StringOf(value)) != strings.TrimSpace(c.Confirmation.Edit.NewContent)
		return !other
	})
	return other
}

// commandDirectory is where a call's command runs: as it is asked for, or as the tool is
// told; "" if it has none.
func commandDirectory(c *calls.ToolCall) (dir string) {
	if c.Confirmation.Execute == nil {
		return ""
	}
	if dir = c.Confirmation.Execute.WorkingDirectory; dir != "" {
		return dir
	}
	eachMemberDeep(string(c.Input), inputDepth, func(key, value string) {
		if dir == "" && isDirectoryKey(key) && rawjson.IsString(value) {
			dir = calls.StringOf(value)
		}
	})
	return dir
}

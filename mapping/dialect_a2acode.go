package mapping

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// a2acode puts Claude Code, Codex, Gemini CLI or any agent of ACP behind A2A. Read in
// source only (kanywst/a2acode 0.6.3, executor.py and card.py).
//
// Tool calls are lines of text in status messages, without IDs: "$ command" or "Name
// path", then "✓ Name" or "✗ Name: why"; the first line that a name ends is the oldest
// that is open. An edit is an artifact that is named as the file; the plan and the
// thoughts are artifacts of those names. The message that completes the task is the
// whole answer again. A question's answer is text: option:ID.
type a2acode struct{ quiet }

const a2acodeKey = "a2acode_permission"

// a2acodeAsks is the tool with which Claude asks the user.
const a2acodeAsks = "AskUserQuestion"

func (a2acode) name() string { return "a2acode" }

func (a2acode) traits() Traits { return Traits{Differences: true} }

func (a2acode) sign() string { return "a2acode_" }

// tells: its card has always the same skills, whatever agent it fronts, and whatever
// name and description its owner gives it.
func (a2acode) tells(card *a2a.Card) bool {
	want := [...]string{"code-generation", "refactor", "debug", "review", "test", "explain"}
	if len(card.Skills) != len(want) || !strings.HasPrefix(card.Skills[0].Description, "Implement features, scaffold modules, and write new code") {
		return false
	}
	for i, id := range want {
		if card.Skills[i].ID != id {
			return false
		}
	}
	return true
}

func (a2acode) knows(ev *a2a.Event) bool {
	return ev.HasMessage && gjson.Get(string(ev.Message.Metadata), a2acodeKey).IsObject()
}

func (d a2acode) message(m *a2a.Message, at *carrier, to *pieces) bool {
	if q := gjson.Get(string(m.Metadata), a2acodeKey); q.IsObject() {
		if at.state == a2a.StateInputRequired && (at.newest || !at.held) {
			d.question(q, at, to)
		}
		return true
	}
	if at.ends || at.state.Terminal() {
		if usage := gjson.Get(string(m.Metadata), "usage"); usage.IsObject() {
			to.usage = a2a.JSON(usage.Raw)
		}
		if at.state != a2a.StateCompleted {
			return false
		}
		if text := wholeText(m.Parts); text != "(no text output)" {
			to.text(pieceText, text)
		}
		return true
	}
	if at.held {
		return true // lines of a snapshot do not tell which calls they are about
	}
	line := wholeText(m.Parts)
	switch mark, rest, _ := strings.Cut(line, " "); mark {
	case "✓":
		d.ended(rest, ToolSucceeded, "", at, to)
	case "✗":
		name, why, _ := strings.Cut(rest, ": ")
		d.ended(name, ToolFailed, why, at, to)
	default:
		if isNotice(line) {
			to.list = append(to.list, piece{kind: pieceNotice, text: "\n[" + line + "]\n"})
			break
		}
		d.began(line, at, to)
	}
	return true
}

// isNotice tells a note about the run, by how it begins, from a tool's title.
func isNotice(line string) bool {
	return strings.HasPrefix(line, "the ") || strings.HasPrefix(line, "waiting for ")
}

// maxLines is how many calls that are known by lines may be open.
const maxLines = 1 << 8

// began begins a call. A call that was named without its argument may be named again
// with it: an agent of ACP may learn that later.
func (a2acode) began(line string, at *carrier, to *pieces) {
	i := slices.IndexFunc(at.mem.lines, func(c lineCall) bool { return strings.HasPrefix(line, c.name+" ") && !strings.Contains(c.name, " ") })
	if i < 0 || strings.HasPrefix(line, "$ ") {
		at.mem.made++
		if len(at.mem.lines) == maxLines {
			at.mem.lines = slices.Delete(at.mem.lines, 0, 1) // the turn's end tells its end
		}
		i = len(at.mem.lines)
		at.mem.lines = append(at.mem.lines, lineCall{id: "line-" + strconv.Itoa(at.mem.made)})
	}
	call := &at.mem.lines[i]
	c := ToolCall{ID: call.id, Status: ToolExecuting}
	if command, ok := strings.CutPrefix(line, "$ "); ok {
		call.name = "Bash"
		c.Name, c.Kind, c.Input = "Bash", acp.KindExecute, a2a.JSON(`{"command":`+quoted(command)+`}`)
	} else {
		call.name = strings.Clone(line)
		name, file, _ := strings.Cut(line, " ")
		c.Name, c.DisplayName = name, line
		if file != "" && !strings.Contains(file, " ") {
			c.DisplayName, c.Input = name, a2a.JSON(`{"path":`+quoted(file)+`}`)
		}
	}
	to.call(c)
}

// edited shows a diff, at the call that is about that file and has no diff yet, if
// there is one.
func (a2acode) edited(a *a2a.Artifact, text string, at *carrier, to *pieces) {
	if at.mem.diffs[a.ID] {
		return // a snapshot's
	}
	diff := unifiedDiff(a.Name, text)
	i := -1
	if !at.held {
		i = slices.IndexFunc(at.mem.lines, func(c lineCall) bool {
			return c.diff == nil && (strings.HasSuffix(c.name, " "+a.Name) || strings.HasSuffix(c.name, " "+path.Base(a.Name)))
		})
	}
	if i < 0 {
		to.call(ToolCall{ID: "edit-" + a.ID, Name: "edit", Kind: acp.KindEdit, Status: ToolSucceeded, Input: a2a.JSON(`{"path":` + quoted(a.Name) + `}`),
			DisplayName: "Edit", Output: &ToolOutput{Diff: diff}})
		return
	}
	if at.mem.diffs == nil {
		at.mem.diffs = map[string]bool{}
	}
	at.mem.diffs[strings.Clone(a.ID)] = true
	at.mem.lines[i].diff = diff.Clone()
	to.call(ToolCall{ID: at.mem.lines[i].id, Kind: acp.KindEdit, Status: ToolExecuting, Output: &ToolOutput{Diff: diff}})
}

// ended ends the oldest open call of that name; if none has the name, the oldest of
// all, whose title the name may be.
func (a2acode) ended(name string, status ToolStatus, why string, at *carrier, to *pieces) {
	if len(at.mem.lines) == 0 {
		return
	}
	i := slices.IndexFunc(at.mem.lines, func(c lineCall) bool { return c.name == name || strings.HasPrefix(c.name, name+" ") })
	i = max(i, 0)
	c := ToolCall{ID: at.mem.lines[i].id, Status: status}
	if status == ToolFailed {
		c.Error = &ErrorDetails{Message: why}
	} else if diff := at.mem.lines[i].diff; diff != nil {
		c.Output = &ToolOutput{Diff: diff}
	}
	at.mem.lines = slices.Delete(at.mem.lines, i, i+1)
	to.call(c)
}

func (d a2acode) artifact(a *a2a.Artifact, at *carrier, to *pieces) bool {
	switch text := wholeText(a.Parts); {
	case a.Name == "thinking" && at.held:
		to.text(pieceWholeThought, text)
	case a.Name == "thinking":
		to.text(pieceThought, text)
	case a.Name == "plan":
		to.call(ToolCall{ID: "plan", Name: "update_plan", Status: ToolSucceeded, Input: checklist(text)})
	case isDiff(a):
		d.edited(a, text, at, to)
	default:
		return false
	}
	return true
}

// isDiff reports whether an artifact is a diff, by its media type.
func isDiff(a *a2a.Artifact) bool {
	for p := range a.Parts.All() {
		v := gjson.Parse(string(p.Raw))
		if first(v, "mediaType", "metadata.mediaType", "metadata.mimeType").Str == "text/x-diff" {
			return true
		}
	}
	return false
}

// unifiedDiff is a change of which only the differences are known: what editors show
// of it are the places that have changed, with what is around them.
func unifiedDiff(name, diff string) *FileDiff {
	d := &FileDiff{FileName: path.Base(name), FilePath: name, Formatted: diff}
	var old, now strings.Builder
	isNew, hunks := false, 0
	for line := range strings.Lines(diff) {
		text := line[min(1, len(line)):]
		switch {
		case strings.HasPrefix(line, "--- ") && hunks == 0:
			isNew = strings.HasPrefix(line, "--- /dev/null")
		case strings.HasPrefix(line, "@@"):
			if hunks++; hunks > 1 {
				old.WriteString("…\n")
				now.WriteString("…\n")
			}
		case hunks == 0 || strings.HasPrefix(line, `\`):
		case strings.HasPrefix(line, "-"):
			old.WriteString(text)
		case strings.HasPrefix(line, "+"):
			now.WriteString(text)
		default:
			old.WriteString(text)
			now.WriteString(text)
		}
	}
	if d.NewContent = now.String(); !isNew {
		before := old.String()
		d.OldContent = &before
	}
	return d
}

// checklist spells a Markdown checklist as a plan's entries; lines that are none are
// entries as they are.
func checklist(text string) a2a.JSON {
	b := []byte(`{"entries":[`)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		status, priority := "pending", "medium"
		for mark, s := range map[string]string{"- [x] ": "completed", "- [>] ": "in_progress", "- [ ] ": "pending", "- [-] ": "cancelled"} {
			if rest, ok := strings.CutPrefix(line, mark); ok {
				line, status = rest, s
			}
		}
		if rest, ok := strings.CutPrefix(line, "(high) "); ok {
			line, priority = rest, "high"
		}
		if line == "" {
			continue
		}
		if b[len(b)-1] == '}' {
			b = append(b, ',')
		}
		b = append(b, `{"content":`+quoted(line)+`,"priority":"`+priority+`","status":"`+status+`"}`...)
	}
	return a2a.JSON(append(b, "]}"...))
}

// question asks about a tool's input, with the options of the agent behind.
func (d a2acode) question(q gjson.Result, at *carrier, to *pieces) {
	id, tool, in := q.Get("request_id").String(), q.Get("tool").String(), q.Get("input")
	// Other tools have questions in their input as well, and want a permission for them:
	// words would give it.
	if questions := in.Get("questions"); tool == a2acodeAsks && questions.IsArray() && !q.Get("options").IsArray() {
		to.ask(questionsInput(id, questions))
		return
	}
	c := ToolCall{ID: "question-" + id, QuestionID: id, Name: tool, Input: a2a.JSON(in.Raw), Status: ToolPending, Asks: true, Confirmation: &Confirmation{}}
	// At most a line of text has announced the call that it is about.
	if n := len(at.mem.lines); n > 0 {
		last := at.mem.lines[n-1]
		if last.name == tool || strings.HasPrefix(last.name, tool+" ") || strings.HasPrefix(tool, last.name) {
			c.ID = last.id
		}
	}
	if command := in.Get("command"); command.Type == gjson.String {
		c.Kind, c.Confirmation.Execute = acp.KindExecute, &ExecuteDetails{Command: command.Str}
	} else if file := first(in, "file_path", "path"); file.Type == gjson.String && in.Get("new_string").Exists() {
		old := in.Get("old_string").String()
		c.Confirmation.Edit = &FileDiff{FileName: path.Base(file.Str), FilePath: file.Str, OldContent: &old, NewContent: in.Get("new_string").String()}
	} else if file.Type == gjson.String && in.Get("content").Type == gjson.String {
		c.Confirmation.Edit = &FileDiff{FileName: path.Base(file.Str), FilePath: file.Str, NewContent: in.Get("content").Str}
	} else {
		c.Confirmation.Generic = &GenericDetails{}
	}
	q.Get("options").ForEach(func(_, o gjson.Result) bool {
		c.Confirmation.Options = append(c.Confirmation.Options, ConfirmationOption{ID: o.Get("id").String(), Name: o.Get("name").String(), Kind: o.Get("kind").Str})
		return true
	})
	to.call(c)
}

// The choices of a question that names none: the words that its server knows.
const (
	a2acodeAllow = "allow"
	a2acodeDeny  = "deny"
)

func (a2acode) options(c *ToolCall) []Option {
	if len(c.Confirmation.Options) > 0 {
		return nil
	}
	return []Option{ask.NewOption(ConfirmationOption{ID: a2acodeAllow, Name: "Allow"}), ask.NewOption(ConfirmationOption{ID: a2acodeDeny, Name: "Deny"})}
}

// answer names the request, so that it settles no other. The server takes unknown words
// for a refusal, and gives them to the agent.
func (a2acode) answer(a Answer, m *a2a.Outgoing) error {
	text := a.OptionID
	if len(a.Call.Confirmation.Options) > 0 {
		text = "option:" + a.OptionID
	}
	m.Parts = append(m.Parts, a2a.OutPart{Text: text})
	return setMetadata(m, a2acodeKey, map[string]string{"request_id": a.Call.QuestionID})
}

// reply answers Claude's questions, by their text.
func (a2acode) reply(in input, values []a2a.JSON, _ string, m *a2a.Outgoing) (SideRequest, error) {
	answers := map[string]json.RawMessage{}
	for i, q := range gjson.Parse(string(in.data)).Array() {
		answers[q.Get("question").String()] = json.RawMessage(values[i])
	}
	m.Parts = []a2a.OutPart{{Text: a2acodeAllow}}
	return SideRequest{}, setMetadata(m, a2acodeKey, struct {
		ID      string                     `json:"request_id"`
		Answers map[string]json.RawMessage `json:"answers"`
	}{in.id, answers})
}

package spell

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A Journal spells what a session has shown, a line for each step, so that another process
// can load it: [Loader] reads them. Items are kept as the agent has said them, as
// differences: text as what follows, a tool call without what it has in common with its last
// mention. Output that grows is most of a session, and would be sent whole each time (1 MiB
// in steps of 4 KiB is 138 MB; 2 MB as differences).
//
// A line leaves out what the one before it has said, too: the task, and which item it is of.
// But at the beginning of a turn, and at least every 64 KiB, a line stands for itself:
// a store drops a journal's beginning.
//
// The zero value is ready. It is for one session, and not safe for concurrent use.
type Journal struct {
	calls map[string]string // a call's last mention, by the name that the editor knows it by
	late  map[string]bool   // calls of which the newest mention is left out
	item  itemLine
	model [2]string // and the user's tier
	since int       // bytes since the last line that stood for itself
}

// itemLine is what a line says that the next one of the same item leaves out.
type itemLine struct{ task, kind, id, as string }

// fullEvery is how many bytes may lean on a line before them.
const fullEvery = 64 << 10

// Turn notes that a turn begins.
func (j *Journal) Turn() { *j = Journal{} }

// Append appends the lines of steps. Neighbouring text of one item becomes one line.
func (j *Journal) Append(dst []byte, steps []mapping.Step) []byte {
	for i := 0; i < len(steps); {
		n, from := 1, len(dst)
		if j.since > fullEvery {
			j.Turn()
		}
		s := &steps[i]
		if is := [2]string{s.Model, s.UserTier}; is != j.model {
			j.model = [2]string{strings.Clone(s.Model), strings.Clone(s.UserTier)}
			dst = rawjson.AppendField(append(dst, `{"model":true`...), "name", s.Model)
			dst = append(rawjson.AppendField(dst, "tier", s.UserTier), "}\n"...)
		}
		switch s.Kind {
		case mapping.StepText, mapping.StepThought, mapping.StepPart:
			for s.Kind == mapping.StepText && i+n < len(steps) && joins(s, &steps[i+n]) && s.Shown == steps[i+n].Shown {
				n++
			}
			dst = j.said(dst, steps[i:i+n])
		case mapping.StepTool:
			dst = j.tool(dst, s)
		case mapping.StepNotice, mapping.StepError:
			kind := `{"notice":`
			if s.Kind == mapping.StepError {
				kind = `{"error":`
			}
			dst = append(rawjson.AppendString(append(dst, kind...), s.Text), "}\n"...)
		case mapping.StepConnection:
			if s.Connection.Gap {
				dst = append(dst, `{"gap":true}`+"\n"...)
			}
		}
		j.since += len(dst) - from
		i += n
	}
	return dst
}

// said appends the line of a run of text of one item, of a part, or of a thought.
func (j *Journal) said(dst []byte, run []mapping.Step) []byte {
	s := &run[0]
	is := itemLine{s.TaskID, "message", s.MessageID, s.Shown}
	switch {
	case s.Kind == mapping.StepThought:
		is.kind = "thought"
	case s.ArtifactID != "":
		is.kind, is.id = "artifact", s.ArtifactID
	}
	dst = append(dst, `{"say":"`...)
	dst = append(append(dst, is.kind...), '"')
	if is != j.item {
		dst = rawjson.AppendField(dst, "task", is.task)
		dst = rawjson.AppendField(dst, "id", is.id)
		dst = rawjson.AppendField(dst, "as", is.as)
		if s.Name != "" {
			dst = rawjson.AppendField(dst, "name", s.Name)
		}
		j.item = itemLine{strings.Clone(is.task), is.kind, strings.Clone(is.id), strings.Clone(is.as)}
	}
	if !s.Append {
		dst = append(dst, `,"begins":true`...)
	}
	if s.Replaces {
		dst = append(dst, `,"replaces":true`...)
	}
	if s.Repeats {
		dst = append(dst, `,"repeats":true`...)
	}
	switch s.Kind {
	case mapping.StepPart:
		part, _ := rawjson.Marshal(s.Part) // it has strings alone
		dst = append(append(dst, `,"part":`...), part...)
	case mapping.StepThought:
		dst = rawjson.AppendField(dst, "subject", s.Subject)
		dst = rawjson.AppendField(dst, "text", s.Description)
		dst = rawjson.AppendJSON(dst, "data", string(s.Data))
	default:
		dst = appendText(append(dst, `,"text":`...), s)
		for i := range run[1:] {
			dst = joinText(dst, &run[1+i])
		}
	}
	return append(dst, "}\n"...)
}

// tool appends the line of a call: what stands in its JSON between the beginning and the end
// that it has in common with its last mention.
func (j *Journal) tool(dst []byte, s *mapping.Step) []byte {
	was := j.calls[s.Tool.Shown]
	// Output that grows is kept when it is twice as long: a process that is killed loses at
	// most the newest half of what a running call has put out.
	if late := j.late[s.Tool.Shown]; was != "" && s.Changed == mapping.ToolContent && !s.Tool.Asks && len(s.Tool.OutputSoFar) > 0 && len(s.Tool.OutputSoFar) < 2*len(was) {
		if !late {
			if j.late == nil {
				j.late = map[string]bool{}
			}
			j.late[s.Tool.Shown] = true
		}
		return dst
	} else if late {
		s.Changed |= mapping.ToolContent
		delete(j.late, s.Tool.Shown)
	}
	raw, _ := rawjson.Marshal(s.Tool)
	now := string(raw)
	head := 0
	for head < min(len(now), len(was)) && now[head] == was[head] {
		head++
	}
	tail := 0
	for tail < min(len(now), len(was))-head && now[len(now)-1-tail] == was[len(was)-1-tail] {
		tail++
	}
	dst = rawjson.AppendField(append(dst, `{"call":true`...), "task", s.TaskID)
	dst = rawjson.AppendField(dst, "as", s.Tool.Shown)
	dst = strconv.AppendInt(append(dst, `,"changed":`...), int64(s.Changed), 10)
	if s.New {
		dst = append(dst, `,"new":true`...)
	}
	if was != "" {
		dst = strconv.AppendInt(append(dst, `,"was":[`...), int64(len(was)), 10)
		dst = strconv.AppendInt(append(dst, ','), int64(head), 10)
		dst = strconv.AppendInt(append(dst, ','), int64(tail), 10)
		dst = append(dst, ']')
	}
	dst = rawjson.AppendField(dst, "tool", now[head:len(now)-tail])
	if j.item = (itemLine{}); s.Tool.Status.Ended() {
		delete(j.calls, s.Tool.Shown)
	} else {
		if j.calls == nil {
			j.calls = map[string]string{}
		}
		j.calls[s.Tool.Shown] = now
	}
	return append(dst, "}\n"...)
}

// AnswerLine appends the line of a call whose answer is on its way.
func AnswerLine(dst []byte, c *mapping.ToolCall, task string) []byte {
	dst = rawjson.AppendField(append(dst, `{"answer":true`...), "call", c.ID)
	return append(rawjson.AppendField(dst, "task", task), "}\n"...)
}

// HeardLine appends the line of a task whose agent has taken all answers so far.
func HeardLine(dst []byte, task string) []byte {
	return append(rawjson.AppendField(append(dst, `{"heard":true`...), "task", task), "}\n"...)
}

// TaskLine appends the line of the task and the context that a turn goes on in.
func TaskLine(dst []byte, task, context string) []byte {
	dst = rawjson.AppendField(append(dst, `{"goesOn":true`...), "task", task)
	return append(rawjson.AppendField(dst, "context", context), "}\n"...)
}

// EndLine appends the line of a turn's end.
func EndLine(dst []byte) []byte { return append(dst, `{"end":true}`+"\n"...) }

// TakenLine is the line behind which nothing was given to a model yet: see [MCP]. It is loaded
// as a step of kind StepUnknown, which no editor shows.
const TakenLine = `{"taken":true}` + "\n"

// A Loader reads the lines of a [Journal], and of [ACP.UserMessage], in their order. The
// zero value shows a session; one that has a Fold that has had no turn restores that, too.
type Loader struct {
	// Fold, if not nil, learns what was shown.
	Fold *mapping.Fold
	// TaskID and ContextID are where the newest turn goes on, as far as its lines say.
	TaskID, ContextID string

	calls  map[string]string
	item   itemLine
	model  [2]string
	begun  bool // a turn has begun, and has no end
	mender mender
}

// Unfinished reports whether the lines so far end in the middle of a turn: its process was
// killed.
func (l *Loader) Unfinished() bool { return l.begun }

// Line reads a line. It returns a step to show, or a line that is to be shown as it is; of
// both none where the line is not for the user, or cannot be shown. Journals that a2astdio
// 0.9 and before have written consist of lines for ACP, which are shown, and not gone on with.
func (l *Loader) Line(line []byte) (steps []mapping.Step, raw []byte) {
	o := gjson.ParseBytes(line)
	switch {
	case o.Get("model").Exists():
		l.model = [2]string{o.Get("name").Str, o.Get("tier").Str}
	case o.Get("say").Exists():
		return l.withModel(l.said(o)), nil
	case o.Get("call").Exists() && o.Get("tool").Exists():
		return l.withModel(l.tool(o)), nil
	case o.Get("notice").Exists():
		return []mapping.Step{{Kind: mapping.StepNotice, Text: o.Get("notice").Str}}, nil
	case o.Get("error").Exists() && !o.Get("method").Exists():
		return []mapping.Step{{Kind: mapping.StepError, Text: o.Get("error").Str}}, nil
	case o.Get("gap").Exists():
		return []mapping.Step{{Kind: mapping.StepConnection, Connection: mapping.Connection{Phase: mapping.PhaseResumed, Gap: true}}}, nil
	case o.Get("taken").Exists():
		return []mapping.Step{{Kind: mapping.StepUnknown}}, nil
	case o.Get("answer").Exists():
		if l.Fold != nil {
			l.Fold.RestoreAnswer(o.Get("task").Str, o.Get("call").Str)
		}
	case o.Get("heard").Exists():
		if l.Fold != nil {
			l.Fold.RestoreTaken(o.Get("task").Str)
		}
	case o.Get("goesOn").Exists():
		l.TaskID, l.ContextID = o.Get("task").Str, o.Get("context").Str
	case o.Get("end").Exists():
		l.begun = false
	case o.Get("params.update.sessionUpdate").Str == "user_message_chunk":
		if !l.begun && l.Fold != nil {
			l.Fold.Begin("")
		}
		l.begun, l.item, l.calls = true, itemLine{}, nil
		l.TaskID, l.ContextID = "", ""
		return nil, line
	case o.Get("params.update").Exists():
		return nil, l.mender.mend(line)
	}
	return nil, nil
}

func (l *Loader) withModel(steps []mapping.Step) []mapping.Step {
	for i := range steps {
		steps[i].Model, steps[i].UserTier = l.model[0], l.model[1]
	}
	return steps
}

func (l *Loader) said(o gjson.Result) []mapping.Step {
	if id := o.Get("id"); id.Exists() {
		l.item = itemLine{o.Get("task").Str, o.Get("say").Str, id.Str, o.Get("as").Str}
	}
	if l.item.kind != o.Get("say").Str {
		return nil // its beginning is not stored
	}
	s := mapping.Step{Kind: mapping.StepText, TaskID: l.item.task, MessageID: l.item.id, Shown: l.item.as, Name: o.Get("name").Str, Text: o.Get("text").Str,
		Append: !o.Get("begins").Bool(), Replaces: o.Get("replaces").Bool(), Repeats: o.Get("repeats").Bool()}
	switch part := o.Get("part"); {
	case part.Exists():
		s.Kind, s.Part = mapping.StepPart, new(a2a.Part)
		if json.Unmarshal([]byte(part.Raw), s.Part) != nil {
			return nil
		}
	case l.item.kind == "thought":
		s.Kind, s.Subject, s.Description, s.Data, s.Text = mapping.StepThought, o.Get("subject").Str, s.Text, a2a.JSON(o.Get("data").Raw), ""
	}
	if l.item.kind == "artifact" {
		s.ArtifactID = s.MessageID
	}
	if l.Fold != nil {
		l.Fold.Restore(&s)
	}
	return []mapping.Step{s}
}

func (l *Loader) tool(o gjson.Result) []mapping.Step {
	name, text := o.Get("as").Str, o.Get("tool").Str
	if was := o.Get("was").Array(); len(was) == 3 {
		old, head, tail := l.calls[name], int(was[1].Int()), int(was[2].Int())
		if len(old) != int(was[0].Int()) || head < 0 || tail < 0 || head+tail > len(old) {
			return nil // what it differs from is not stored
		}
		text = old[:head] + text + old[len(old)-tail:]
	}
	c := new(mapping.ToolCall)
	if json.Unmarshal([]byte(text), c) != nil || c.ID == "" {
		return nil
	}
	if l.calls == nil {
		l.calls = map[string]string{}
	}
	_, known := l.calls[name]
	l.calls[name] = text
	c.Shown = name
	s := mapping.Step{Kind: mapping.StepTool, TaskID: o.Get("task").Str, Tool: c, New: o.Get("new").Bool() || !known, Changed: mapping.ToolChange(o.Get("changed").Uint())}
	if s.New {
		s.Changed = mapping.ToolHead | mapping.ToolState | mapping.ToolContent
	}
	if l.Fold != nil {
		l.Fold.Restore(&s)
	}
	return []mapping.Step{s}
}

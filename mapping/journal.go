package mapping

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

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
func (j *Journal) Append(dst []byte, steps []Step) []byte {
	for i := 0; i < len(steps); {
		n, from := 1, len(dst)
		if j.since > fullEvery {
			j.Turn()
		}
		s := &steps[i]
		if is := [2]string{s.Model, s.UserTier}; is != j.model {
			j.model = [2]string{strings.Clone(s.Model), strings.Clone(s.UserTier)}
			dst = appendField(append(dst, `{"model":true`...), "name", s.Model)
			dst = append(appendField(dst, "tier", s.UserTier), "}\n"...)
		}
		switch s.Kind {
		case StepText, StepThought, StepPart:
			for s.Kind == StepText && i+n < len(steps) && s.joins(&steps[i+n]) && s.Shown == steps[i+n].Shown {
				n++
			}
			dst = j.said(dst, steps[i:i+n])
		case StepTool:
			dst = j.tool(dst, s)
		case StepNotice, StepError:
			kind := `{"notice":`
			if s.Kind == StepError {
				kind = `{"error":`
			}
			dst = append(appendString(append(dst, kind...), s.Text), "}\n"...)
		case StepConnection:
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
func (j *Journal) said(dst []byte, run []Step) []byte {
	s := &run[0]
	is := itemLine{s.TaskID, "message", s.MessageID, s.Shown}
	switch {
	case s.Kind == StepThought:
		is.kind = "thought"
	case s.ArtifactID != "":
		is.kind, is.id = "artifact", s.ArtifactID
	}
	dst = append(dst, `{"say":"`...)
	dst = append(append(dst, is.kind...), '"')
	if is != j.item {
		dst = appendField(dst, "task", is.task)
		dst = appendField(dst, "id", is.id)
		dst = appendField(dst, "as", is.as)
		if s.Name != "" {
			dst = appendField(dst, "name", s.Name)
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
	case StepPart:
		part, _ := marshal(s.Part) // it has strings alone
		dst = append(append(dst, `,"part":`...), part...)
	case StepThought:
		dst = appendField(dst, "subject", s.Subject)
		dst = appendField(dst, "text", s.Description)
		dst = appendJSON(dst, "data", s.Data)
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
func (j *Journal) tool(dst []byte, s *Step) []byte {
	was := j.calls[s.Tool.Shown]
	// Output that grows is kept when it is twice as long: a process that is killed loses at
	// most the newest half of what a running call has put out.
	if late := j.late[s.Tool.Shown]; was != "" && s.Changed == ToolContent && !s.Tool.Asks && len(s.Tool.OutputSoFar) > 0 && len(s.Tool.OutputSoFar) < 2*len(was) {
		if !late {
			if j.late == nil {
				j.late = map[string]bool{}
			}
			j.late[s.Tool.Shown] = true
		}
		return dst
	} else if late {
		s.Changed |= ToolContent
		delete(j.late, s.Tool.Shown)
	}
	raw, _ := marshal(s.Tool)
	now := string(raw)
	head := 0
	for head < min(len(now), len(was)) && now[head] == was[head] {
		head++
	}
	tail := 0
	for tail < min(len(now), len(was))-head && now[len(now)-1-tail] == was[len(was)-1-tail] {
		tail++
	}
	dst = appendField(append(dst, `{"call":true`...), "task", s.TaskID)
	dst = appendField(dst, "as", s.Tool.Shown)
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
	dst = appendField(dst, "tool", now[head:len(now)-tail])
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
func AnswerLine(dst []byte, c *ToolCall, task string) []byte {
	dst = appendField(append(dst, `{"answer":true`...), "call", c.ID)
	return append(appendField(dst, "task", task), "}\n"...)
}

// HeardLine appends the line of a task whose agent has taken all answers so far.
func HeardLine(dst []byte, task string) []byte {
	return append(appendField(append(dst, `{"heard":true`...), "task", task), "}\n"...)
}

// EndLine appends the line of a turn's end.
func EndLine(dst []byte) []byte { return append(dst, `{"end":true}`+"\n"...) }

// A Loader reads the lines of a [Journal], and of [ACP.UserMessage], in their order. The
// zero value shows a session; one that has a Fold that has had no turn restores that, too.
type Loader struct {
	// Fold, if not nil, learns what was shown.
	Fold *Fold

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
func (l *Loader) Line(line []byte) (steps []Step, raw []byte) {
	o := gjson.ParseBytes(line)
	switch {
	case o.Get("model").Exists():
		l.model = [2]string{o.Get("name").Str, o.Get("tier").Str}
	case o.Get("say").Exists():
		return l.withModel(l.said(o)), nil
	case o.Get("call").Exists() && o.Get("tool").Exists():
		return l.withModel(l.tool(o)), nil
	case o.Get("notice").Exists():
		return []Step{{Kind: StepNotice, Text: o.Get("notice").Str}}, nil
	case o.Get("error").Exists() && !o.Get("method").Exists():
		return []Step{{Kind: StepError, Text: o.Get("error").Str}}, nil
	case o.Get("gap").Exists():
		return []Step{{Kind: StepConnection, Connection: Connection{Phase: PhaseResumed, Gap: true}}}, nil
	case o.Get("answer").Exists():
		if l.Fold != nil {
			l.Fold.restoreAnswer(o.Get("task").Str, o.Get("call").Str)
		}
	case o.Get("heard").Exists():
		if l.Fold != nil {
			l.Fold.restoreHeard(o.Get("task").Str)
		}
	case o.Get("end").Exists():
		l.begun = false
	case o.Get("params.update.sessionUpdate").Str == "user_message_chunk":
		if !l.begun && l.Fold != nil {
			l.Fold.Begin("")
		}
		l.begun, l.item, l.calls = true, itemLine{}, nil
		return nil, line
	case o.Get("params.update").Exists():
		return nil, l.mender.mend(line)
	}
	return nil, nil
}

func (l *Loader) withModel(steps []Step) []Step {
	for i := range steps {
		steps[i].Model, steps[i].UserTier = l.model[0], l.model[1]
	}
	return steps
}

func (l *Loader) said(o gjson.Result) []Step {
	if id := o.Get("id"); id.Exists() {
		l.item = itemLine{o.Get("task").Str, o.Get("say").Str, id.Str, o.Get("as").Str}
	}
	if l.item.kind != o.Get("say").Str {
		return nil // its beginning is not stored
	}
	s := Step{Kind: StepText, TaskID: l.item.task, MessageID: l.item.id, Shown: l.item.as, Name: o.Get("name").Str, Text: o.Get("text").Str,
		Append: !o.Get("begins").Bool(), Replaces: o.Get("replaces").Bool(), Repeats: o.Get("repeats").Bool()}
	switch part := o.Get("part"); {
	case part.Exists():
		s.Kind, s.Part = StepPart, new(a2a.Part)
		if json.Unmarshal([]byte(part.Raw), s.Part) != nil {
			return nil
		}
	case l.item.kind == "thought":
		s.Kind, s.Subject, s.Description, s.Data, s.Text = StepThought, o.Get("subject").Str, s.Text, a2a.JSON(o.Get("data").Raw), ""
	}
	if l.item.kind == "artifact" {
		s.ArtifactID = s.MessageID
	}
	if l.Fold != nil {
		l.Fold.restoreStep(&s)
	}
	return []Step{s}
}

func (l *Loader) tool(o gjson.Result) []Step {
	name, text := o.Get("as").Str, o.Get("tool").Str
	if was := o.Get("was").Array(); len(was) == 3 {
		old, head, tail := l.calls[name], int(was[1].Int()), int(was[2].Int())
		if len(old) != int(was[0].Int()) || head < 0 || tail < 0 || head+tail > len(old) {
			return nil // what it differs from is not stored
		}
		text = old[:head] + text + old[len(old)-tail:]
	}
	c := new(ToolCall)
	if json.Unmarshal([]byte(text), c) != nil || c.ID == "" {
		return nil
	}
	if l.calls == nil {
		l.calls = map[string]string{}
	}
	_, known := l.calls[name]
	l.calls[name] = text
	c.Shown = name
	s := Step{Kind: StepTool, TaskID: o.Get("task").Str, Tool: c, New: o.Get("new").Bool() || !known, Changed: ToolChange(o.Get("changed").Uint())}
	if s.New {
		s.Changed = ToolHead | ToolState | ToolContent
	}
	if l.Fold != nil {
		l.Fold.restoreCall(&s)
	}
	return []Step{s}
}

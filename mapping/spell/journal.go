package spell

import (
	"cmp"
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
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
	calls     map[string][]byte // a call's last mention, by the name that the editor knows it by
	spare     []byte            // room for the next one
	item      itemKey           // of the last line; zero if the next one must say it
	itemRoom  []byte            // the item's strings
	sinceFull int               // bytes since the last line that stood for itself
}

// An itemKey is what a line says of its item, and the next one of the same item leaves out.
type itemKey struct{ task, kind, id, as string }

// itemOf is the item of a step.
func itemOf(s *mapping.Step) itemKey {
	switch {
	case s.Kind == mapping.StepThought:
		return itemKey{s.TaskID, "thought", s.MessageID, s.Shown}
	case s.ArtifactID != "":
		return itemKey{s.TaskID, "artifact", s.ArtifactID, s.Shown}
	}
	return itemKey{s.TaskID, "message", s.MessageID, s.Shown}
}

// An entry is a line.
type entry struct {
	// Say is what is said: a message, an artifact or a thought.
	Say      string          `json:"say,omitempty"`
	Task     string          `json:"task,omitempty"`
	ID       *string         `json:"id,omitempty"`
	As       string          `json:"as,omitempty"`
	Name     string          `json:"name,omitempty"`
	Begins   bool            `json:"begins,omitempty"`
	Replaces bool            `json:"replaces,omitempty"`
	Repeats  bool            `json:"repeats,omitempty"`
	Part     *a2a.Part       `json:"part,omitempty"`
	Text     string          `json:"text,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	// Tool is a call, without what it has in common with its last mention: Was is how long that
	// was, and how much of its beginning and of its end this has, too.
	Tool    string             `json:"tool,omitempty"`
	Was     *[3]int            `json:"was,omitempty"`
	Changed mapping.ToolChange `json:"changed,omitempty"`
	New     bool               `json:"new,omitempty"`
	// The others say one thing each.
	Notice string `json:"notice,omitempty"`
	Error  string `json:"error,omitempty"`
	Gap    bool   `json:"gap,omitempty"`
	Answer string `json:"answer,omitempty"` // the call's ID
	Heard  bool   `json:"heard,omitempty"`
	GoesOn bool   `json:"goesOn,omitempty"`
	End    bool   `json:"end,omitempty"`
	Taken  bool   `json:"taken,omitempty"`
	// State is of End.
	State  a2a.State `json:"state,omitempty"`
	Speaks string    `json:"speaks,omitempty"` // the dialect's name
	// Context and Sent, the ID of our message, are of GoesOn.
	Context string `json:"context,omitempty"`
	Sent    string `json:"sent,omitempty"`
	// Params are of a line of ACP: a message of the user's.
	Params struct {
		Update struct {
			Kind string `json:"sessionUpdate"`
		} `json:"update"`
	} `json:"params,omitzero"`
}

func (e *entry) append(dst []byte) []byte {
	line, _ := rawjson.Marshal(e) // it has strings and JSON alone
	return append(append(dst, line...), '\n')
}

// fullEvery is how many bytes may lean on a line before them.
const fullEvery = 64 << 10

// Turn notes that a turn begins: the next line stands for itself.
func (j *Journal) Turn() { *j = Journal{} }

// Append appends the lines of steps. Neighbouring text of one item becomes one line, but for its first: what comes in
// pieces has several lines, by which whoever loads them knows that, and what says all of it again.
func (j *Journal) Append(dst []byte, steps []mapping.Step) []byte {
	for i := 0; i < len(steps); {
		n, from := 1, len(dst)
		if j.sinceFull > fullEvery {
			j.Turn()
		}
		s := &steps[i]
		switch s.Kind {
		case mapping.StepText, mapping.StepThought, mapping.StepPart:
			for itemOf(s) == j.item && s.Kind == mapping.StepText && i+n < len(steps) && joins(s, &steps[i+n]) && s.Shown == steps[i+n].Shown {
				n++
			}
			dst = j.appendItem(dst, steps[i:i+n])
		case mapping.StepTool:
			dst = j.appendTool(dst, s)
		case mapping.StepNotice:
			dst = (&entry{Notice: s.Text}).append(dst)
		case mapping.StepError:
			dst = (&entry{Error: s.Text}).append(dst)
		case mapping.StepConnection:
			if s.Connection.Gap {
				dst = (&entry{Gap: true}).append(dst)
			}
		}
		j.sinceFull += len(dst) - from
		i += n
	}
	return dst
}

// appendItem appends the line of a run of text of one item, of a part, or of a thought, without what
// the last line has said of the item. It is made by hand because there are so many.
func (j *Journal) appendItem(dst []byte, run []mapping.Step) []byte {
	s := &run[0]
	is := itemOf(s)
	dst = append(dst, `{"say":"`...)
	dst = append(append(dst, is.kind...), '"')
	if is != j.item {
		dst = appendOptional(appendFields(dst, "task", is.task, "id", is.id, "as", is.as), "name", s.Name)
		j.itemRoom = append(append(append(j.itemRoom[:0], is.task...), is.id...), is.as...)
		ours, id, as := rawjson.View(j.itemRoom), len(is.task), len(is.task)+len(is.id)
		j.item = itemKey{ours[:id], is.kind, ours[id:as], ours[as:]}
	}
	dst = appendTrue(appendTrue(appendTrue(dst, "begins", !s.Append), "replaces", s.Replaces), "repeats", s.Repeats)
	switch s.Kind {
	case mapping.StepPart:
		part, _ := rawjson.Marshal(s.Part) // it has strings alone
		dst = append(append(dst, `,"part":`...), part...)
	case mapping.StepThought:
		if s.Data == "" {
			dst = rawjson.AppendField(dst, "text", s.Description)
		}
		dst = rawjson.AppendJSON(dst, "data", string(s.Data)) // has its words
	default:
		dst = appendText(append(dst, `,"text":`...), s)
		for i := range run[1:] {
			dst = joinText(dst, &run[1+i])
		}
	}
	return append(dst, "}\n"...)
}

// AnswerLine appends the line of a call whose answer is on its way.
func AnswerLine(dst []byte, c *mapping.ToolCall, task string) []byte {
	return (&entry{Answer: c.ID, Task: task}).append(dst)
}

// HeardLine appends the line of a task whose agent has taken all answers so far.
func HeardLine(dst []byte, task string) []byte {
	return (&entry{Heard: true, Task: task}).append(dst)
}

// TaskLine appends the line of the task and the context that a turn goes on in, and of the ID of the message that
// was sent. It is made by hand because the turn's first words wait for it.
func TaskLine(dst []byte, task, context, sent string) []byte {
	dst = appendOptional(appendOptional(append(dst, `{"goesOn":true`...), "task", task), "context", context)
	dst = appendOptional(dst, "sent", sent)
	return append(dst, "}\n"...)
}

// SpeaksLine appends the line of a dialect that the agent has shown to speak: its task may not tell.
func SpeaksLine(dst []byte, name string) []byte { return (&entry{Speaks: name}).append(dst) }

// EndLine appends the line of a turn's end, with the state in which it leaves the task.
func EndLine(dst []byte, state a2a.State) []byte {
	return (&entry{End: true, State: state}).append(dst)
}

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
	// State is that in which the newest turn has ended, as far as its lines say.
	State a2a.State

	calls map[string]string // their last mentions, as the journal's
	item  itemKey           // of the last line, and the artifact's name
	name  string
	begun bool // a turn has begun, and has no end
}

// Unfinished reports whether the lines so far end in the middle of a turn: its process was
// killed.
func (l *Loader) Unfinished() bool { return l.begun }

// Line reads a line. It returns a step to show, or a line that is to be shown as it is; of
// both none where the line is not for the user, or cannot be shown. Journals that a2astdio
// 0.9 and before have written consist of lines for ACP, which are shown, and not gone on with.
func (l *Loader) Line(line []byte) (steps []mapping.Step, raw []byte) {
	var e entry
	if json.Unmarshal(line, &e) != nil {
		return nil, nil // damaged
	}
	switch {
	case e.Say != "":
		return l.readItem(&e), nil
	case e.Tool != "" || e.Was != nil:
		return l.readTool(&e), nil
	case e.Notice != "":
		return []mapping.Step{{Kind: mapping.StepNotice, Text: e.Notice}}, nil
	case e.Error != "":
		return []mapping.Step{{Kind: mapping.StepError, Text: e.Error}}, nil
	case e.Gap:
		return []mapping.Step{{Kind: mapping.StepConnection, Connection: mapping.Connection{Phase: mapping.PhaseResumed, Gap: true}}}, nil
	case e.Taken:
		return []mapping.Step{{Kind: mapping.StepUnknown}}, nil
	case e.Answer != "", e.Heard, e.Speaks != "":
		l.restore(&e)
	case e.GoesOn:
		l.goesOn(&e)
	case e.End:
		l.begun, l.State = false, cmp.Or(e.State, l.State)
	case e.Params.Update.Kind == "user_message_chunk":
		if !l.begun && l.Fold != nil {
			l.Fold.Begin("")
		}
		l.begun, l.item, l.calls = true, itemKey{}, nil
		l.TaskID, l.ContextID, l.State = "", "", ""
		return nil, line
	case e.Params.Update.Kind != "":
		return nil, line
	}
	return nil, nil
}

// restore takes a line that nobody is shown.
func (l *Loader) restore(e *entry) {
	switch f := l.Fold; {
	case f == nil:
	case e.Answer != "":
		f.RestoreAnswer(e.Task, e.Answer)
	case e.Heard:
		f.RestoreTaken(e.Task)
	default:
		f.Speak(e.Speaks)
	}
}

// goesOn takes the line of [TaskLine].
func (l *Loader) goesOn(e *entry) {
	l.TaskID, l.ContextID = e.Task, e.Context
	if e.Sent != "" && l.Fold != nil {
		l.Fold.RestorePrompt(e.Sent)
	}
}

// shown restores a step that was shown, and returns it.
func (l *Loader) shown(s mapping.Step) []mapping.Step {
	if l.Fold != nil {
		l.Fold.Restore(&s)
	}
	return []mapping.Step{s}
}

// readItem reads a line of an item; no steps if the one that it leans on is not stored.
func (l *Loader) readItem(e *entry) []mapping.Step {
	if e.ID != nil {
		l.item, l.name = itemKey{e.Task, e.Say, *e.ID, e.As}, e.Name
	}
	if l.item.kind != e.Say {
		return nil // its beginning is not stored
	}
	s := mapping.Step{Kind: mapping.StepText, TaskID: l.item.task, MessageID: l.item.id, Shown: l.item.as, Name: l.name, Text: e.Text,
		Append: !e.Begins, Replaces: e.Replaces, Repeats: e.Repeats}
	switch {
	case e.Part != nil:
		s.Kind, s.Part = mapping.StepPart, e.Part
	case e.Say == "thought":
		s.Kind, s.Data, s.Text = mapping.StepThought, a2a.JSON(e.Data), ""
		if s.Description = e.Text; s.Data != "" {
			s.Subject, s.Description = mapping.ThoughtWords(s.Data)
		}
	}
	if e.Say == "artifact" {
		s.ArtifactID = s.MessageID
	}
	return l.shown(s)
}

// readTool reads a line of a call; no steps if the mention that it differs from is not stored.
func (l *Loader) readTool(e *entry) []mapping.Step {
	text := e.Tool
	if was := e.Was; was != nil {
		old, head, tail := l.calls[e.As], was[1], was[2]
		if len(old) != was[0] || head < 0 || tail < 0 || head > len(old) || tail > len(old)-head {
			return nil
		}
		text = old[:head] + text + old[len(old)-tail:]
	}
	c := readCall(text)
	if c == nil {
		return nil
	}
	if l.calls == nil {
		l.calls = map[string]string{}
	}
	_, known := l.calls[e.As]
	l.calls[e.As] = text
	c.Shown = e.As
	s := mapping.Step{Kind: mapping.StepTool, TaskID: e.Task, Tool: c, New: e.New || !known, Changed: e.Changed}
	if s.New {
		s.Changed = mapping.ToolHead | mapping.ToolState | mapping.ToolContent
	}
	return l.shown(s)
}

// UserMessage appends a user_message_chunk for each content block of a prompt, an array,
// for the journal: an editor shows its own user's words itself, until it loads
// the session again. Blocks that are too long are named instead.
func (e *ACP) UserMessage(dst []byte, prompt a2a.JSON, messageID string) []byte {
	for _, b := range gjson.Parse(string(prompt)).Array() {
		if !b.IsObject() {
			continue
		}
		if text := b.Get("text"); b.Get("type").Str == "text" {
			dst = e.chunks(dst, "user_message_chunk", text.String(), messageID)
			continue
		}
		if len(b.Raw) > textMax {
			dst = e.chunks(dst, "user_message_chunk", "["+b.Get("type").String()+ask.MoreNote(len(b.Raw))+"]", messageID)
			continue
		}
		dst = rawjson.AppendValue(e.openContent(dst, "user_message_chunk"), b.Raw)
		dst = e.closeContent(dst, messageID)
	}
	return dst
}

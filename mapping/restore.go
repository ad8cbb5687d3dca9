package mapping

import (
	"bytes"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file restores a Fold in another process. The journal holds the lines that the
// editor got. Such a line does not tell which message, artifact or call of the agent it
// stands for: that is kept in a line of its own beside it, a mark.

// A mark says what an editor's line stands for: the text of a message or artifact
// that is shown under a name from now on, a part that is not text, or a call.
type mark struct {
	task string
	id   textID
	call string // the call's ID; "" for a text or a part
	name string // that the editor knows it by; "" for a part
	// at is where in the text of that name this text begins; from is how much of it was
	// shown before.
	at, from int
	headless bool   // as shown.headless
	within   bool   // a mark of all of the text tells of it
	sum      uint64 // the part's
}

func partMark(sh *shown, sum uint64) *mark { return &mark{task: sh.task, id: sh.textID, sum: sum} }

// markSum names a part that is not text. It is not maphash, whose values differ in each
// process.
func markSum(values ...string) uint64 {
	h := fnv.New64a()
	for _, v := range values {
		_, _ = h.Write([]byte(strconv.Itoa(len(v)) + ":" + v)) // a hash takes anything
	}
	return h.Sum64()
}

// Marks appends the marks of steps to a journal's lines: JSON objects that are
// no messages, for [Fold.Restore] alone.
func Marks(dst []byte, steps []Step) []byte {
	for i := range steps {
		m := steps[i].mark
		if m == nil {
			continue
		}
		switch {
		case m.call != "":
			dst = append(dst, `{"mark":"call"`...)
			dst = appendField(dst, "call", m.call)
		case m.name != "":
			dst = append(dst, `{"mark":"text","at":`...)
			dst = strconv.AppendInt(dst, int64(m.at), 10)
			dst = append(dst, `,"from":`...)
			dst = strconv.AppendInt(dst, int64(m.from), 10)
			if m.headless {
				dst = append(dst, `,"headless":true`...)
			}
			if m.within {
				dst = append(dst, `,"within":true`...)
			}
		default:
			dst = append(dst, `{"mark":"part","sum":"`...)
			dst = append(strconv.AppendUint(dst, m.sum, 16), '"')
		}
		if m.name != "" {
			dst = appendField(dst, "as", m.name)
		}
		if m.call == "" {
			dst = appendField(dst, m.id.key(), m.id.id)
		}
		dst = append(appendField(dst, "task", m.task), "}\n"...)
	}
	return dst
}

// AnswerMark appends the mark of a call whose answer is on its way.
func AnswerMark(dst []byte, c *ToolCall, task string) []byte {
	dst = appendField(append(dst, `{"mark":"answer"`...), "call", c.ID)
	return append(appendField(dst, "task", task), "}\n"...)
}

// HeardMark appends the mark of a task whose agent has taken all answers so far.
func HeardMark(dst []byte, task string) []byte {
	return append(appendField(append(dst, `{"mark":"heard"`...), "task", task), "}\n"...)
}

// KnownMarks appends the marks of texts of the agent that were shown under another ID,
// since it was called last.
func (f *Fold) KnownMarks(dst []byte) []byte {
	for _, a := range f.texts.adopted {
		dst = append(dst, `{"mark":"known","n":`...)
		dst = strconv.AppendInt(dst, int64(a.n), 10)
		dst = append(dst, `,"sum":"`...)
		dst = append(strconv.AppendUint(dst, a.sum, 16), '"')
		dst = appendField(dst, a.id.key(), a.id.id)
		dst = append(appendField(dst, "task", a.task), "}\n"...)
	}
	f.texts.adopted = f.texts.adopted[:0]
	return dst
}

// EndMarks is KnownMarks at the end of a turn, with its mark.
func (f *Fold) EndMarks(dst []byte) []byte {
	return append(f.KnownMarks(dst), `{"mark":"end"}`+"\n"...)
}

// key is the member of a mark that an ID stands in.
func (id textID) key() string {
	if id.artifact {
		return "artifact"
	}
	return "message"
}

// IsMark reports whether a line of a journal is a mark, which editors must not
// get.
func IsMark(line []byte) bool { return strings.HasPrefix(string(line), `{"mark":`) }

// unknownTitle is that of a call whose beginning is not stored.
const unknownTitle = "Tool call"

// A Mender repairs a journal whose beginning, or some of whose lines, are missing, so
// that it can be shown. The zero value is ready.
type Mender struct{ calls map[string]bool }

// Mend returns a line as it is to be shown, without keeping it: a
// tool_call_update whose tool_call has not been seen becomes one, which wants a
// title. nil: it cannot be shown.
func (m *Mender) Mend(line []byte) []byte {
	if !bytes.Contains(line, []byte(`"sessionUpdate":"tool_call`)) {
		return line
	}
	kind := gjson.GetBytes(line, "params.update.sessionUpdate")
	id, title := gjson.GetBytes(line, "params.update.toolCallId"), gjson.GetBytes(line, "params.update.title")
	switch {
	case kind.Str != "tool_call" && kind.Str != "tool_call_update": // it was shown, as text
		return line
	case id.Type != gjson.String || id.Str == "" || title.Exists() && title.Type != gjson.String || id.Index < kind.Index:
		return nil // not as ACP.Append writes it
	case m.calls == nil:
		m.calls = map[string]bool{}
	}
	known := m.calls[id.Str]
	m.calls[strings.Clone(id.Str)] = true
	if known || kind.Str == "tool_call" {
		return line
	}
	dst := make([]byte, 0, len(line)+len(unknownTitle))
	dst = append(dst, line[:kind.Index]...)
	dst = append(dst, `"tool_call"`...)
	dst = append(dst, line[kind.Index+len(kind.Raw):id.Index+len(id.Raw)]...)
	if !title.Exists() {
		dst = append(dst, `,"title":"`+unknownTitle+`"`...)
	}
	return append(dst, line[id.Index+len(id.Raw):]...)
}

// restored is what a Fold knows of a journal while it is read.
type restored struct {
	runs  map[string]*restoredRun
	calls map[string]*ToolCall
	// unfinished: the last turn has no end.
	unfinished bool
}

// A restoredRun is text that was shown under one name, and where in it the agent's
// messages begin.
type restoredRun struct {
	run   run
	parts []restoredText
}

type restoredText struct {
	at   int
	task string
	id   textID
	from int // what of it was shown before; -1 once some of this has come
	// headless: as shown.headless. within: a mark tells of it.
	headless, within bool
}

// Restore notes that a line has been shown: an ACP update as [ACP.Append] makes
// it, or a mark. Other lines are ignored. It is for a Fold that has had no turn.
func (f *Fold) Restore(line []byte) {
	if f.restored == nil {
		f.restored = &restored{runs: map[string]*restoredRun{}, calls: map[string]*ToolCall{}}
	}
	if IsMark(line) {
		f.restoreMark(line)
		return
	}
	u := gjson.GetBytes(line, "params.update")
	switch u.Get("sessionUpdate").Str {
	case "agent_message_chunk":
		if text := u.Get("content.text"); text.Type == gjson.String {
			f.restoreText(u.Get("messageId").Str, text.Str)
		}
	case "user_message_chunk":
		f.texts.begin(false)
		f.restored.unfinished = true
	case "tool_call", "tool_call_update":
		f.restoreCall(u)
	}
}

// Unfinished reports whether the journal that was restored ends in the middle of a
// turn: its process was killed. It is to be asked before the first turn.
func (f *Fold) Unfinished() bool { return f.restored != nil && f.restored.unfinished }

func (f *Fold) restoreMark(line []byte) {
	m := gjson.ParseBytes(line)
	kind := m.Get("mark").Str
	if kind == "end" {
		f.restored.unfinished = false
		return
	}
	f.texts.enter(m.Get("task").Str)
	f.calls.Enter(m.Get("task").Str)
	if kind == "heard" {
		f.calls.Taken()
		return
	}
	name := strings.Clone(m.Get("as").Str)
	if id := m.Get("call").Str; kind == "answer" {
		f.calls.RestoreAnswered(id)
		return
	} else if id != "" {
		f.texts.epoch++
		f.restored.calls[name] = f.calls.Restore(strings.Clone(id), name)
		return
	}
	artifact := m.Get("artifact")
	sh := f.texts.of(m.Get("message").Str+artifact.Str, artifact.Exists())
	if kind == "known" {
		if sum, err := strconv.ParseUint(m.Get("sum").Str, 16, 64); err == nil {
			f.restored.end(sh)
			f.texts.replace(sh)
			sh.stored = stored{int(m.Get("n").Int()), sum}
		}
		return
	}
	if name == "" {
		if sum, err := strconv.ParseUint(m.Get("sum").Str, 16, 64); err == nil {
			f.texts.once(sh, sum)
		}
		return
	}
	r := f.restored.runs[name]
	if r == nil {
		f.texts.names.take(name)
		r = &restoredRun{run: run{name: name, turn: f.texts.turn, epoch: f.texts.epoch}}
		f.restored.runs[name] = r
	}
	// The text comes later: lines that were written at once have their marks before them.
	r.parts = append(r.parts, restoredText{int(m.Get("at").Int()), sh.task, sh.textID, int(m.Get("from").Int()), m.Get("headless").Bool(), m.Get("within").Bool()})
}

// end ends a text of which a mark has told all. What was shown of it before that is in lines that
// come behind the mark, since they were written at once.
func (r *restored) end(sh *shown) {
	if sh.run == nil || r.runs[sh.run.name] == nil {
		return
	}
	parts := r.runs[sh.run.name].parts
	for i := range parts {
		parts[i].within = parts[i].within || parts[i].id == sh.textID && parts[i].task == sh.task
	}
}

// restoreText notes text that was shown under a name: it goes to the messages that
// begin in it.
func (f *Fold) restoreText(name, text string) {
	r := f.restored.runs[name]
	if r == nil {
		return
	}
	for i := range r.parts {
		end := len(text) + r.run.n
		if i+1 < len(r.parts) {
			end = min(end, r.parts[i+1].at)
		}
		if n := end - r.run.n; n > 0 {
			p := &r.parts[i]
			f.texts.enter(p.task)
			sh := f.texts.of(p.id.id, p.id.artifact)
			switch {
			case p.within, p.from > 0 && p.from < sh.stored.n && sh.n == 0: // all of the text is known
				r.run.n, text = r.run.n+n, text[n:]
				continue
			case p.from < 0 || p.from == sh.stored.n+sh.n:
				if sh.n > 0 || p.headless {
					f.texts.follow(sh, false)
				}
			default:
				f.texts.replace(sh)
				sh.stored.n = p.from
			}
			p.from = -1
			sh.run = &r.run
			f.texts.saw(sh, text[:n])
			text = text[n:]
		}
	}
}

func (f *Fold) restoreCall(u gjson.Result) {
	c := f.restored.calls[u.Get("toolCallId").Str]
	if c == nil {
		return
	}
	switch u.Get("status").Str {
	case acp.ToolPending:
		c.Status = ToolPending
	case acp.ToolInProgress:
		c.Status = ToolExecuting
	case acp.ToolCompleted:
		c.Status = ToolSucceeded
	case acp.ToolFailed:
		c.Status = ToolFailed
	}
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
			dst = e.chunks(dst, "user_message_chunk", "["+b.Get("type").String()+ask.MoreNote(len(b.Raw))[1:]+"]", messageID)
			continue
		}
		dst = e.open(dst, "user_message_chunk")
		dst = append(dst, `,"content":`...)
		dst = appendValue(dst, a2a.JSON(b.Raw))
		dst = appendString(append(dst, `,"messageId":`...), messageID)
		dst = e.close(dst)
	}
	return dst
}

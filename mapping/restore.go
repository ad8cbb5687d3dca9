package mapping

import (
	"bytes"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is how a Fold outlives a process: what was shown is kept as the
// lines that the editor got, and read back from them. What such a line does not
// tell, which of the agent's parts it stands for, is kept in a line of its own
// beside it, a mark.

// markSum names a part that is not text. It is not maphash, which is another
// one in each process.
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
		if s := &steps[i]; s.mark != 0 {
			dst = append(dst, `{"mark":"`...)
			dst = strconv.AppendUint(dst, s.mark, 16)
			dst = append(dst, `","of":`...)
			dst = appendString(dst, s.markOf)
			dst = append(dst, "}\n"...)
		}
	}
	return dst
}

// IsMark reports whether a line of a journal is a mark, which editors must not
// get.
func IsMark(line []byte) bool { return strings.HasPrefix(string(line), `{"mark":`) }

// unknownTitle is that of a call whose beginning is not stored.
const unknownTitle = "Tool call"

// A Mender makes a journal whose beginning is missing, or that has a hole, fit to
// be shown. The zero value is ready.
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
	case kind.Str != "tool_call" && kind.Str != "tool_call_update": // it was said, in a text
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

// Restore notes that a line has been shown: an ACP update as [ACP.Append] makes
// it, or a mark. Other lines are ignored.
func (f *Fold) Restore(line []byte) {
	if IsMark(line) {
		if sum, err := strconv.ParseUint(gjson.GetBytes(line, "mark").Str, 16, 64); err == nil {
			f.of(nil, gjson.GetBytes(line, "of").Str).mark(sum)
		}
		return
	}
	u := gjson.GetBytes(line, "params.update")
	switch id := u.Get("messageId").Str; u.Get("sessionUpdate").Str {
	case "agent_message_chunk":
		if text := u.Get("content.text"); id != "" && text.Type == gjson.String {
			f.restoreText(id, text.Str)
		}
	case "tool_call", "tool_call_update":
		f.restoreCall(u)
	}
}

// restoreText notes text under both names that it may have come by: a line does
// not tell a message from an artifact, and their IDs are not mistaken for each
// other in practice.
func (f *Fold) restoreText(id, text string) {
	f.saw(f.of(nil, id), text)
	sh := f.of(nil, artifactKey+id)
	if base, n, ok := strings.Cut(id, "~"); ok {
		if again, err := strconv.Atoi(n); err == nil {
			if sh = f.of(nil, artifactKey+base); sh.again != again {
				f.seal()
				sh.again, sh.n, sh.head, sh.sums = again, 0, "", nil
			}
		}
	}
	f.saw(sh, text)
}

func (f *Fold) restoreCall(u gjson.Result) {
	id := u.Get("toolCallId").Str
	c := f.calls[id]
	if c == nil {
		c = &call{ToolCall: &ToolCall{ID: strings.Clone(id)}}
		f.calls[c.ID] = c
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

// UserMessage appends a user_message_chunk for each content block of a prompt,
// for the journal: an editor shows its own user's words itself, until it loads
// the session again. Blocks that are too long are named instead.
func (e *ACP) UserMessage(dst []byte, blocks []gjson.Result, messageID string) []byte {
	for _, b := range blocks {
		if !b.IsObject() {
			continue
		}
		if text := b.Get("text"); b.Get("type").Str == "text" {
			dst = e.chunks(dst, "user_message_chunk", text.String(), messageID)
			continue
		}
		if len(b.Raw) > textMax {
			dst = e.chunks(dst, "user_message_chunk", "["+b.Get("type").String()+cutNote(len(b.Raw))[1:]+"]", messageID)
			continue
		}
		dst = e.open(dst, "user_message_chunk")
		dst = append(dst, `,"content":`...)
		dst = appendValue(dst, a2a.JSON(b.Raw))
		dst = append(dst, `,"messageId":`...)
		dst = appendString(dst, messageID)
		dst = e.close(dst)
	}
	return dst
}

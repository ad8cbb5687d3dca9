package mapping

import (
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

// Restore notes that a line has been shown: an ACP update as [ACP.Append] makes
// it, or a mark. Other lines are ignored.
func (f *Fold) Restore(line []byte) {
	if IsMark(line) {
		if sum, err := strconv.ParseUint(gjson.GetBytes(line, "mark").Str, 16, 64); err == nil {
			sh := f.of(nil, gjson.GetBytes(line, "of").Str)
			sh.others = append(sh.others, sum)
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

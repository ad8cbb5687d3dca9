package spell

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for journals that hold lines of ACP: the user's messages, and all of those that
// a2astdio 0.9 and before have written.

// unknownTitle is that of a call whose beginning is not stored.
const unknownTitle = "Tool call"

// A mender repairs a journal whose beginning, or some of whose lines, are missing, so
// that it can be shown. The zero value is ready.
type mender struct{ calls map[string]bool }

// mend returns a line as it is to be shown, without keeping it: a
// tool_call_update whose tool_call has not been seen becomes one, which wants a
// title. nil: it cannot be shown.
func (m *mender) mend(line []byte) []byte {
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
		dst = rawjson.AppendValue(e.openContent(dst, "user_message_chunk"), b.Raw)
		dst = e.closeContent(dst, messageID)
	}
	return dst
}

package spell

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
)

// This file is for the lines of tool calls in a [Journal].

// appendTool appends the line of a call: what stands in its JSON between the beginning and the end
// that it has in common with its last mention. Of output that grows not each step has a line.
func (j *Journal) appendTool(dst []byte, s *mapping.Step) []byte {
	c, was := s.Tool, j.calls[s.Tool.Shown]
	changed := s.Changed
	if len(c.OutputSoFar) > 0 {
		// Output that grows is kept when it is twice as long: a process that is killed loses at
		// most the newest half of what a running call has put out.
		if len(was) > 0 && s.Changed == mapping.ToolContent && !c.Asks && len(c.OutputSoFar) < 2*len(was) {
			return dst
		}
		changed |= mapping.ToolContent // which the last mention may not have
	}
	now := appendToolCall(slices.Grow(j.spare[:0], roomOfCall+len(c.Input)+len(c.OutputSoFar)), c, true)
	head, tail := common(rawjson.View(was), rawjson.View(now))
	dst = appendOptional(rawjson.AppendString(append(dst, `{"as":`...), c.Shown), "task", s.TaskID)
	dst = appendOptional(dst, "tool", rawjson.View(now[head:len(now)-tail]))
	if len(was) > 0 {
		dst = append(dst, `,"was":`...)
		for i, n := range [...]int{len(was), head, tail} {
			dst = strconv.AppendInt(append(dst, "[,,"[i]), int64(n), 10)
		}
		dst = append(dst, ']')
	}
	dst = appendTrue(appendNumber(dst, "changed", uint8(changed)), "new", s.New)
	if j.item = (itemKey{}); c.Status.Ended() {
		delete(j.calls, c.Shown)
		j.spare = now
	} else {
		if j.calls == nil {
			j.calls = map[string][]byte{}
		}
		j.calls[c.Shown], j.spare = now, was
	}
	if cap(j.spare) > fullEvery {
		j.spare = nil
	}
	return append(dst, "}\n"...)
}

// appendOutput appends an output, and appendConfirmation what is asked, by hand: half of the events of an edit have one.
func appendOutput(dst []byte, o *mapping.ToolOutput) []byte {
	return appendObject(dst, "output", func(dst []byte) []byte {
		dst = appendDiff(appendOptional(dst, "text", o.Text), "diff", o.Diff)
		return appendOptional(dst, "structured_data", string(o.Data))
	})
}

func appendConfirmation(dst []byte, q *mapping.Confirmation) []byte {
	return appendObject(dst, "confirmation_request", func(dst []byte) []byte {
		if len(q.Options) > 0 {
			dst = appendValue(dst, "options", q.Options)
		}
		if e := q.Execute; e != nil {
			dst = appendObject(dst, "execute_details", func(dst []byte) []byte {
				return appendOptional(rawjson.AppendField(dst, "command", e.Command), "working_directory", e.WorkingDirectory)
			})
		}
		dst = appendDiff(dst, "file_edit_details", q.Edit)
		if q.MCP != nil {
			dst = appendValue(dst, "mcp_details", q.MCP)
		}
		if q.Generic != nil {
			dst = appendValue(dst, "generic_details", q.Generic)
		}
		return appendOptional(dst, "extra", string(q.Unread))
	})
}

func appendDiff(dst []byte, key string, d *mapping.FileDiff) []byte {
	if d == nil {
		return dst
	}
	return appendObject(dst, key, func(dst []byte) []byte {
		dst = appendFields(dst, "file_name", d.FileName, "file_path", d.FilePath)
		if d.OldContent != nil {
			dst = rawjson.AppendField(dst, "old_content", *d.OldContent)
		}
		return appendOptional(rawjson.AppendField(dst, "new_content", d.NewContent), "formatted_diff", d.Formatted)
	})
}

// appendObject appends a member that is an object. members appends those that it has, each behind a comma.
func appendObject(dst []byte, key string, members func([]byte) []byte) []byte {
	dst = append(append(append(dst, `,"`...), key...), `":`...)
	at := len(dst)
	if dst = members(dst); len(dst) == at {
		return append(dst, "{}"...)
	}
	dst[at] = '{' // in place of the first comma
	return append(dst, '}')
}

// common is how many bytes of their beginning and of their end two texts have in common: whole characters.
func common(was, now string) (head, tail int) {
	least := min(len(now), len(was))
	for head+8 <= least && now[head:head+8] == was[head:head+8] {
		head += 8
	}
	for head < least && now[head] == was[head] {
		head++
	}
	for tail+8 <= least-head && now[len(now)-tail-8:len(now)-tail] == was[len(was)-tail-8:len(was)-tail] {
		tail += 8
	}
	for tail < least-head && now[len(now)-1-tail] == was[len(was)-1-tail] {
		tail++
	}
	for head < len(now) && !utf8.RuneStart(now[head]) {
		head--
	}
	for tail > 0 && !utf8.RuneStart(now[len(now)-tail]) {
		tail--
	}
	return head, tail
}

// roomOfCall is what most calls take, beside their input and output.
const roomOfCall = 512

// readCall reads a call as a journal has it; nil if that is damaged, or of a later version.
func readCall(text string) *mapping.ToolCall {
	var c struct {
		mapping.ToolCall
		OldName string `json:"Name"`
	}
	if rest, old := strings.CutPrefix(text, `{"ID":`); old { // as journals had calls until November 2026
		text = `{"tool_call_id":` + oldCallNames().Replace(rest)
	}
	if json.Unmarshal([]byte(text), &c) != nil || c.ID == "" || c.Status > mapping.ToolCancelled {
		return nil
	}
	c.Name = cmp.Or(c.Name, c.OldName)
	return &c.ToolCall
}

// oldCallNames puts the names that members had by those that they have now. No name stands so in a text, where quotes
// are escaped. What differs by its case alone is read as it is.
func oldCallNames() *strings.Replacer {
	return strings.NewReplacer(`"DisplayName":`, `"display_name":`, `"Input":`, `"input_parameters":`, `"OutputSoFar":`, `"live_content":`,
		`"QuestionID":`, `"question_id":`, `"Data":`, `"structured_data":`, `"StatusCode":`, `"status_code":`, `"Confirmation":`, `"confirmation_request":`,
		`"Execute":`, `"execute_details":`, `"WorkingDirectory":`, `"working_directory":`, `"Edit":`, `"file_edit_details":`, `"MCP":`, `"mcp_details":`,
		`"ServerName":`, `"server_name":`, `"ToolName":`, `"tool_name":`, `"Generic":`, `"generic_details":`, `"Unread":`, `"extra":`,
		`"FileName":`, `"file_name":`, `"FilePath":`, `"file_path":`, `"OldContent":`, `"old_content":`, `"NewContent":`, `"new_content":`,
		`"Formatted":`, `"formatted_diff":`)
}

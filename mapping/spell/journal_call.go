package spell

import (
	"strconv"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
)

// This file is for the lines of tool calls in a [Journal].

// tool appends the line of a call: what stands in its JSON between the beginning and the end
// that it has in common with its last mention.
func (j *Journal) tool(dst []byte, s *mapping.Step) []byte {
	c, was := s.Tool, j.calls[s.Tool.Shown]
	changed := s.Changed
	if len(c.OutputSoFar) > 0 {
		// Output that grows is kept when it is twice as long: a process that is killed loses at
		// most the newest half of what a running call has put out.
		if was != "" && s.Changed == mapping.ToolContent && !c.Asks && len(c.OutputSoFar) < 2*len(was) {
			return dst
		}
		changed |= mapping.ToolContent // which the last mention may not have
	}
	now := rawjson.View(appendCall(make([]byte, 0, roomOfCall+len(c.Input)+len(c.OutputSoFar)), c))
	head, tail := common(was, now)
	dst = appendOptional(rawjson.AppendString(append(dst, `{"as":`...), c.Shown), "task", s.TaskID)
	dst = appendOptional(dst, "tool", now[head:len(now)-tail])
	if was != "" {
		dst = append(dst, `,"was":`...)
		for i, n := range [...]int{len(was), head, tail} {
			dst = strconv.AppendInt(append(dst, "[,,"[i]), int64(n), 10)
		}
		dst = append(dst, ']')
	}
	if dst = appendNumber(dst, "changed", uint8(changed)); s.New {
		dst = append(dst, `,"new":true`...)
	}
	if j.item = (itemLine{}); c.Status.Ended() {
		delete(j.calls, c.Shown)
	} else {
		if j.calls == nil {
			j.calls = map[string]string{}
		}
		j.calls[c.Shown] = now
	}
	return append(dst, "}\n"...)
}

// common is how much of their beginning and of their end two texts have in common: whole characters.
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

// appendCall appends what json.Marshal would of a call, though in another order: by hand, because there are so many.
func appendCall(dst []byte, c *mapping.ToolCall) []byte {
	dst = rawjson.AppendString(append(dst, `{"ID":`...), c.ID)
	for _, f := range [...][2]string{{"Shown", c.Shown}, {"Name", c.Name}, {"Description", c.Description}, {"DisplayName", c.DisplayName}, {"Kind", c.Kind},
		{"Input", string(c.Input)}, {"OutputSoFar", c.OutputSoFar}, {"Extra", string(c.Extra)}, {"Note", c.Note}, {"QuestionID", c.QuestionID}} {
		dst = appendOptional(dst, f[0], f[1])
	}
	dst = appendNumber(appendNumber(dst, "Status", uint8(c.Status)), "Dialect", c.Dialect)
	for i, is := range [...]bool{c.Asks, c.Bare, c.Differences} {
		if is {
			dst = append(append(append(dst, `,"`...), [...]string{"Asks", "Bare", "Differences"}[i]...), `":true`...)
		}
	}
	if o := c.Output; o != nil {
		dst = append(dst, `,"Output":`...)
		at := len(dst)
		dst = appendCallDiff(appendOptional(dst, "Text", o.Text), "Diff", o.Diff)
		dst = asObject(appendOptional(dst, "Data", string(o.Data)), at)
	}
	if e := c.Error; e != nil {
		dst = append(dst, `,"Error":`...)
		at := len(dst)
		if dst = appendOptional(appendOptional(dst, "Message", e.Message), "Type", e.Type); e.StatusCode != 0 {
			dst = strconv.AppendInt(append(dst, `,"StatusCode":`...), int64(e.StatusCode), 10)
		}
		dst = asObject(dst, at)
	}
	if c.Confirmation != nil {
		dst = appendCallQuestion(append(dst, `,"Confirmation":`...), c.Confirmation)
	}
	return append(dst, '}')
}

func appendCallQuestion(dst []byte, q *mapping.Confirmation) []byte {
	at := len(dst)
	if q.Options != nil {
		dst = append(dst, `,"Options":[`...)
		for i, o := range q.Options {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendStrings(dst, "ID", o.ID, "Name", o.Name, "Description", o.Description)
		}
		dst = append(dst, ']')
	}
	if e := q.Execute; e != nil {
		dst = appendStrings(append(dst, `,"Execute":`...), "Command", e.Command, "WorkingDirectory", e.WorkingDirectory)
	}
	dst = appendCallDiff(dst, "Edit", q.Edit)
	if m := q.MCP; m != nil {
		dst = appendStrings(append(dst, `,"MCP":`...), "ServerName", m.ServerName, "ToolName", m.ToolName)
	}
	if g := q.Generic; g != nil {
		dst = appendStrings(append(dst, `,"Generic":`...), "Description", g.Description, "Kind", g.Kind)
	}
	return asObject(appendOptional(dst, "Unread", string(q.Unread)), at)
}

func appendCallDiff(dst []byte, key string, d *mapping.FileDiff) []byte {
	if d == nil {
		return dst
	}
	dst = append(append(append(dst, `,"`...), key...), `":`...)
	at := len(dst)
	dst = appendOptional(appendOptional(dst, "FileName", d.FileName), "FilePath", d.FilePath)
	if d.OldContent != nil {
		dst = rawjson.AppendField(dst, "OldContent", *d.OldContent)
	}
	return asObject(appendOptional(appendOptional(dst, "NewContent", d.NewContent), "Formatted", d.Formatted), at)
}

// appendStrings appends an object of strings, of which none is that is "".
func appendStrings(dst []byte, fields ...string) []byte {
	at := len(dst)
	for i := 0; i < len(fields); i += 2 {
		dst = appendOptional(dst, fields[i], fields[i+1])
	}
	return asObject(dst, at)
}

// asObject makes an object of the members from at on, each of which has a comma before it.
func asObject(dst []byte, at int) []byte {
	if at == len(dst) {
		return append(dst, "{}"...)
	}
	dst[at] = '{'
	return append(dst, '}')
}

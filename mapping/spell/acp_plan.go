package spell

import (
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/calls"
)

// isPlan reports whether a call is of a tool that keeps a to-do list. A call that waits
// for approval is shown as any other.
func isPlan(c *mapping.ToolCall) bool {
	return c.Confirmation == nil && (c.Name == "write_todos" || c.Name == "todo_write" || c.Name == "update_plan")
}

// appendPlan appends ACP's entries of the list that a call writes; false if it
// has none. Gemini's cancelled items are left out in version 1, which has no such status.
func (e *ACP) appendPlan(dst []byte, c *mapping.ToolCall) ([]byte, bool) {
	todos := calls.ReadObject(nil, string(c.Input)).Get("todos", "plan", "entries")
	if !rawjson.IsArray(todos) {
		return dst, false
	}
	dst = append(dst, '[')
	n := 0
	gjson.Parse(todos).ForEach(func(_, t gjson.Result) bool {
		status := t.Get("status").Str
		switch status {
		case "pending", "in_progress", "completed":
		case "cancelled", "canceled":
			if status = "cancelled"; e.V2 == nil {
				return true
			}
		case "done":
			status = "completed"
		default:
			status = "pending"
		}
		priority := t.Get("priority").Str
		if priority != "high" && priority != "low" {
			priority = "medium"
		}
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(append(dst, `{"content":`...), calls.StringOf(calls.ReadObject(nil, t.Raw).Get("description", "content", "title", "step")))
		dst = append(dst, `,"priority":"`+priority+`","status":"`+status+`"}`...)
		return true
	})
	return append(dst, ']'), true
}

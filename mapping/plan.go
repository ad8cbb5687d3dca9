package mapping

import (
	"github.com/tidwall/gjson"
)

// isPlan reports whether a call is of a tool that keeps a to-do list. A call that waits
// for approval is shown as any other.
func isPlan(c *ToolCall) bool {
	return c.Confirmation == nil && (c.Name == "write_todos" || c.Name == "todo_write" || c.Name == "update_plan")
}

// appendPlan appends ACP's entries of the list that a call writes; false if it
// has none. Gemini's cancelled items are left out: ACP has no such status.
func appendPlan(dst []byte, c *ToolCall) ([]byte, bool) {
	todos := first(gjson.Parse(string(c.Input)), "todos", "plan", "entries")
	if !todos.IsArray() {
		return dst, false
	}
	dst = append(dst, '[')
	n := 0
	todos.ForEach(func(_, t gjson.Result) bool {
		status := t.Get("status").Str
		switch status {
		case "pending", "in_progress", "completed":
		case "cancelled", "canceled":
			return true
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
		dst = appendString(append(dst, `{"content":`...), first(t, "description", "content", "title", "step").String())
		dst = append(dst, `,"priority":"`+priority+`","status":"`+status+`"}`...)
		return true
	})
	return append(dst, ']'), true
}

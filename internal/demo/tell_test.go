package demo

import (
	"fmt"
	"strconv"
	"strings"
)

// at returns what is at a path of a JSON value, or nil.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch w := v.(type) {
		case map[string]any:
			v = w[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(w) {
				return nil
			}
			v = w[i]
		default:
			return nil
		}
	}
	return v
}

// line tells an event in one line, alike in both versions.
func line(e any) string {
	if at(e, "execution_id") != nil {
		return fmt.Sprint("response ", at(e, "status"))
	}
	name, final := "", at(e, "final") == true
	if v := at(e, "statusUpdate"); v != nil {
		e = v
		final = terminal(stateOf(e)) || stateOf(e) == stateInputRequired
	} else if v := at(e, "task"); v != nil {
		e, name = v, "task "
	} else if at(e, "kind") == "task" {
		name = "task "
	}
	s := name + stateOf(e)
	if p := at(e, "status.message.parts.0"); p != nil && name == "" {
		s = told(p, s)
	}
	if final {
		s += " (final)"
	}
	return s
}

// stateOf is a task's, or an update's, in the words of 0.3.
func stateOf(v any) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(fmt.Sprint(at(v, "status.state")), "TASK_STATE_"), "_", "-"))
}

func told(part any, state string) string {
	if state == "working" {
		state = ""
	} else {
		state += ": "
	}
	switch d := at(part, "data"); {
	case at(d, "tool_call_id") != nil:
		s := fmt.Sprint(at(d, "tool_name"), " ", at(d, "status"))
		if at(d, "confirmation_request") != nil {
			s += "?"
		}
		if edit := at(d, "confirmation_request.file_edit_details"); edit != nil {
			s += fmt.Sprintf(" %v, before %q: %q", at(edit, "file_path"), fmt.Sprint(at(edit, "old_content")), at(edit, "formatted_diff"))
		}
		if live, ok := at(d, "live_content").(string); ok {
			s += fmt.Sprintf(" %q", live)
		}
		return state + s
	case at(d, "subject") != nil:
		return state + fmt.Sprint("thought: ", at(d, "subject"))
	}
	return state + fmt.Sprintf("%q", at(part, "text"))
}

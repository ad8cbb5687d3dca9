package demo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
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

// line tells a 0.3 event in one line.
func line(e map[string]any) string {
	if e["execution_id"] != nil {
		return fmt.Sprint("response ", e["status"])
	}
	if e["kind"] == "task" {
		return fmt.Sprint("task ", at(e, "status.state"))
	}
	s := fmt.Sprint(at(e, "status.state"))
	if p, ok := at(e, "status.message.parts.0").(map[string]any); ok {
		s = told(p, s)
	}
	if e["final"] == true {
		s += " (final)"
	}
	return s
}

func told(part map[string]any, state string) string {
	if state == "working" {
		state = ""
	} else {
		state += ": "
	}
	switch d, _ := part["data"].(map[string]any); {
	case d["tool_call_id"] != nil:
		s := fmt.Sprint(d["tool_name"], " ", d["status"])
		if d["confirmation_request"] != nil {
			s += "?"
		}
		if edit := at(d, "confirmation_request.file_edit_details"); edit != nil {
			s += fmt.Sprintf(" %v, before %q: %q", at(edit, "file_path"), fmt.Sprint(at(edit, "old_content")), at(edit, "formatted_diff"))
		}
		if live, ok := d["live_content"].(string); ok {
			s += fmt.Sprintf(" %q", live)
		}
		return state + s
	case d["subject"] != nil:
		return state + fmt.Sprint("thought: ", d["subject"])
	}
	return state + fmt.Sprintf("%q", part["text"])
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got  %s\n want %s", what, strings.Join(got, "\n      "), strings.Join(want, "\n      "))
	}
}

func expectError(t *testing.T, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) || want == "" {
		t.Errorf("error %q, want %q in it", got, want)
	}
}

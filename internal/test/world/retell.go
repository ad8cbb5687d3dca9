package world

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// retell shortens a line of a wire to a few words, such as "working m1: "w0a0"" for a
// status update. It returns unknown lines unchanged; ok is false for a line without
// news.
func retell(l Line) (text string, ok bool) {
	switch l.Who {
	case "agent>":
		method, params, _ := strings.Cut(l.Text, " ")
		if method == "commands/get" {
			return "", false
		}
		if p := gjson.Parse(params); p.IsObject() {
			return method + " " + retellRequest(p), true
		}
	case "agent<":
		to, text := "", l.Text
		if i := strings.Index(text, `{`); i > 0 && strings.HasPrefix(text, "to stream") {
			to, text = text[:i], text[i:]
		}
		if v := gjson.Parse(text); v.IsObject() {
			return to + retellEvent(v), true
		}
	case "editor>", "editor<":
		if v := gjson.Parse(l.Text); v.IsObject() {
			text := retellEditor(v)
			return text, text != ""
		}
	}
	return l.Text, true
}

func retellRequest(p gjson.Result) string {
	m := p.Get("message")
	if !m.Exists() {
		return p.Get("id").Str
	}
	text := m.Get("messageId").Str
	for _, name := range []string{"contextId", "taskId"} {
		if v := m.Get(name).Str; v != "" {
			text += fmt.Sprintf(" %s=%s", strings.TrimSuffix(name, "Id"), v)
		}
	}
	return text + ": " + retellParts(m)
}

// retellEvent shortens an event of the agent, or the answer to a read.
func retellEvent(v gjson.Result) string {
	if v.Get("error").Exists() {
		return "error " + v.Get("error.code").Raw + " " + v.Get("error.message").Str
	}
	if r := v.Get("result"); r.Exists() {
		v = r
	}
	for _, name := range []string{"task", "statusUpdate", "artifactUpdate", "message"} { // 1.0 wraps
		if x := v.Get(name); x.IsObject() {
			v = x
		}
	}
	switch {
	case v.Get("artifact").Exists():
		text := v.Get("taskId").Str + " artifact"
		for _, name := range []string{"append", "lastChunk"} {
			if x := v.Get(name); x.Exists() {
				text += " " + name + "=" + x.Raw
			}
		}
		return text + " " + retellMessage(v.Get("artifact"))
	case v.Get("taskId").Exists() && v.Get("status").Exists():
		text := v.Get("taskId").Str + " " + retellStatus(v.Get("status"))
		if v.Get("final").Bool() {
			text += " (final)"
		}
		return text
	case v.Get("status").Exists():
		text := "Task " + v.Get("id").Str + " " + retellStatus(v.Get("status"))
		for _, name := range []string{"history", "artifacts"} {
			if x := v.Get(name); x.Exists() {
				var list []string
				for _, m := range x.Array() {
					list = append(list, retellMessage(m))
				}
				text += " " + name + "=[" + strings.Join(list, "; ") + "]"
			}
		}
		return text
	case v.Get("parts").Exists():
		return "Message " + retellMessage(v)
	}
	return v.Raw
}

func retellStatus(s gjson.Result) string {
	text := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(s.Get("state").Str, "TASK_STATE_")), "_", "-")
	if m := s.Get("message"); m.Exists() {
		text += " " + retellMessage(m)
	}
	return text
}

func retellMessage(m gjson.Result) string {
	who := ""
	if strings.HasSuffix(strings.ToLower(m.Get("role").Str), "user") {
		who = "user "
	}
	return who + m.Get("messageId").Str + m.Get("artifactId").Str + ": " + retellParts(m)
}

func retellParts(m gjson.Result) string {
	var list []string
	for _, p := range m.Get("parts").Array() {
		data := p.Get("data")
		switch {
		case p.Get("text").Exists():
			list = append(list, clip(p.Get("text").Str))
		case data.Get("selected_option_id").Exists():
			list = append(list, data.Get("tool_call_id").Str+"="+data.Get("selected_option_id").Str)
		case data.Get("tool_call_id").Exists():
			list = append(list, retellCall(data))
		case data.Get("subject").Exists():
			list = append(list, "thought "+clip(data.Get("subject").Str))
		default:
			list = append(list, p.Raw)
		}
	}
	return strings.Join(list, " + ")
}

func retellCall(c gjson.Result) string {
	text := "call " + c.Get("tool_call_id").Str + " " + c.Get("status").Str
	if o := c.Get("confirmation_request.options"); o.Exists() {
		var list []string
		for _, x := range o.Array() {
			list = append(list, x.Get("id").Str+" "+clip(x.Get("name").Str))
		}
		text += " asks [" + strings.Join(list, ", ") + "]"
	}
	for _, name := range []string{"live_content", "output", "error"} {
		if x := c.Get(name); x.Exists() {
			text += " " + name + "=" + x.Raw
		}
	}
	return text
}

// clip quotes a text, and shortens it if it is long.
func clip(text string) string {
	if len(text) > 60 {
		text = text[:50] + "…"
	}
	return fmt.Sprintf("%q", text)
}

package world

import (
	"strings"

	"github.com/tidwall/gjson"
)

// retellEditor shortens a line between editor and bridge; "" for a line without news.
func retellEditor(v gjson.Result) string {
	p := v.Get("params")
	switch method := v.Get("method").Str; method {
	case "initialize", "session/new":
		return ""
	case "session/prompt":
		return "prompt " + clip(p.Get("prompt.0.text").Str)
	case "message/stream":
		return strings.TrimRight("prompt "+clip(p.Get("text").Str)+" "+p.Get("taskId").Str, " ")
	case "toolCall/confirm":
		return "confirm " + p.Get("confirmations").Raw
	case "session/update":
		return retellUpdate(p.Get("update"))
	case "session/request_permission":
		var list []string
		for _, o := range p.Get("options").Array() {
			list = append(list, o.Get("optionId").Str+" "+clip(o.Get("name").Str)+" "+o.Get("kind").Str)
		}
		return "ask " + p.Get("toolCall.toolCallId").Str + " [" + strings.Join(list, ", ") + "]"
	case "":
		return retellReply(v)
	default:
		if name, ok := strings.CutPrefix(method, "event/"); ok {
			return retellLine(name, p)
		}
		return method
	}
}

func retellReply(v gjson.Result) string {
	r := v.Get("result")
	switch {
	case v.Get("error").Exists():
		return strings.TrimRight("error: "+v.Get("error.message").Str+": "+v.Get("error.data.details").Str, ": ")
	case r.Get("stopReason").Exists():
		return "reply " + r.Get("stopReason").Str
	case r.Get("outcome").Exists():
		return strings.TrimRight("answer "+r.Get("outcome.outcome").Str+" "+r.Get("outcome.optionId").Str, " ")
	case r.Get("state").Exists():
		return "result " + r.Get("state").Str + " text=" + clip(r.Get("text").Str) + " pending=" + r.Get("pending").Raw
	}
	return ""
}

// retellUpdate shortens a session/update of ACP.
func retellUpdate(u gjson.Result) string {
	text := u.Get("content.text").Str
	switch kind := u.Get("sessionUpdate").Str; kind {
	case "agent_message_chunk":
		return "text " + u.Get("messageId").Str + ": " + clip(text)
	case "user_message_chunk":
		return "user " + clip(text)
	case "agent_thought_chunk":
		return "thought " + clip(text)
	case "tool_call", "tool_call_update":
		line := strings.TrimRight(kind+" "+u.Get("toolCallId").Str+" "+u.Get("status").Str, " ")
		if c := u.Get("content"); c.Exists() {
			var list []string
			for _, x := range c.Array() {
				if x.Get("type").Str == "diff" {
					list = append(list, "diff of "+x.Get("path").Str)
				} else {
					list = append(list, clip(x.Get("content.text").Str))
				}
			}
			line += " content=[" + strings.Join(list, ", ") + "]"
		}
		return line
	}
	return ""
}

// retellLine shortens an event of A2A lines.
func retellLine(name string, p gjson.Result) string {
	switch name {
	case "state":
		return "state " + p.Get("state").Str
	case "text", "artifact", "message":
		text := p.Get("part").Raw
		if p.Get("text").Exists() {
			text = clip(p.Get("text").Str)
		}
		return name + " " + p.Get("messageId").Str + p.Get("artifactId").Str + ": " + text
	case "toolCall":
		return "toolCall " + retellCall(p.Get("toolCall"))
	case "connection":
		return strings.TrimRight("connection "+p.Get("phase").Str+map[bool]string{true: " (gap)"}[p.Get("gap").Bool()], " ")
	}
	return name + " " + p.Raw
}

package spell

import (
	"cmp"
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// fileMax is the largest file, in bytes of base64, that is handed on inline.
const fileMax = 4 << 20

// A contentBlock is ACP's, with the members that a part needs. A resource is written alike. An empty
// file has data, too: ACP requires the member.
type contentBlock struct {
	Type     string        `json:"type,omitempty"`
	Name     string        `json:"name,omitempty"`
	URI      string        `json:"uri,omitempty"`
	Data     *string       `json:"data,omitempty"`
	MimeType string        `json:"mimeType,omitempty"`
	Blob     *string       `json:"blob,omitempty"`
	Resource *contentBlock `json:"resource,omitempty"`
}

// acpContent spells a part as an ACP content block; where there is none for it, content is nil,
// and note what to say instead.
func acpContent(s *mapping.Step) (content []byte, note string) {
	f := &s.Part.File
	name := cmp.Or(f.Name, s.Name, "file")
	block := contentBlock{}
	switch media, _, _ := strings.Cut(f.MediaType, "/"); {
	case s.Part.Kind != a2a.PartFile:
		return nil, dataNote(s.Part)
	case f.URI != "":
		block = contentBlock{Type: "resource_link", Name: name, URI: f.URI, MimeType: f.MediaType}
	case len(f.Bytes) > fileMax:
		return nil, "[" + name + ": " + f.MediaType + ask.MoreNote(len(f.Bytes)/4*3) + "]"
	case media == "image" || media == "audio":
		block = contentBlock{Type: media, Data: &f.Bytes, MimeType: f.MediaType}
	default:
		block = contentBlock{Type: "resource", Resource: &contentBlock{URI: "attachment:" + name, MimeType: f.MediaType, Blob: &f.Bytes}}
	}
	content, _ = rawjson.Marshal(block) // it has strings alone
	return content, ""
}

// dataNote is what is shown of data that only the agent understands.
func dataNote(p *a2a.Part) string {
	raw := cmp.Or(string(p.Data), string(p.Raw))
	text := ask.AtMost(raw, textMax)
	if text == raw {
		text = strings.TrimSpace(gjson.Get(raw, "@pretty").Raw)
	}
	return "```json\n" + text + "\n```\n"
}

// Quota is the _meta of a prompt's response that says what the turn cost, the
// way Gemini CLI's own ACP agent does; nil if the agent has not said. (ACP's
// usage_update needs the size of the context, which no A2A agent tells.)
func Quota(usage a2a.JSON) map[string]any {
	u := calls.ReadObject(nil, string(usage))
	in := gjson.Parse(u.Get("promptTokenCount", "input_tokens", "inputTokens", "InputTokenCount"))
	out := gjson.Parse(u.Get("candidatesTokenCount", "output_tokens", "outputTokens", "OutputTokenCount"))
	if in.Type != gjson.Number || out.Type != gjson.Number {
		return nil
	}
	return map[string]any{"quota": map[string]any{"token_count": map[string]any{
		"input_tokens": in.Int(), "output_tokens": out.Int()}}}
}

// ACPError spells an error for an ACP client, in ACP's codes only: the agent's
// own numbers mean other things there, so its code is said in the text. The message and
// details, which is for data.details, say the same: some editors show the one, some the
// other.
func ACPError(err error) (code int, message, details string) {
	var task *mapping.TaskError
	switch code, details = acp.CodeInternal, err.Error(); {
	case errors.As(err, &task) && task.State == a2a.StateAuthRequired:
		return acp.CodeAuthRequired, "Authentication required: the agent " + strings.TrimPrefix(details, "agent: "), details
	case errors.As(err, &task):
	case errors.As(err, new(*mapping.PromptError)):
		code = acp.CodeInvalidParams
	case a2a.ErrorOf(err).Unauthenticated():
		return acp.CodeAuthRequired, AuthRequired(err), details
	}
	return code, details, details
}

// AuthRequired is the message for a user who has to authenticate: some editors show
// it, some the details.
func AuthRequired(err error) string {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "agent: "), "bridge: ")
	return "Authentication required: " + strings.ReplaceAll(text, "\n", "; ")
}

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
		text := calls.StringOf(calls.ReadObject(nil, t.Raw).Get("description", "content", "title", "step"))
		dst = rawjson.AppendString(append(comma(dst), `{"content":`...), text)
		dst = append(dst, `,"priority":"`+priority+`","status":"`+status+`"}`...)
		return true
	})
	return append(dst, ']'), true
}

package dialect

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// wrapper is github.com/shashikanth-gs/a2a-wrapper: a2a-claude, a2a-codex, a2a-opencode, a2a-copilot and
// a2a-antigravity, which put coding agents behind A2A. What they do is in artifacts of an extension, whose data
// have a call's beginning, its end, a thought. They stream an answer in pieces, and then append the whole of it, or of what
// came behind the last call. Recorded from a2a-claude 0.2.0 and a2a-codex 0.2.0.
type wrapper struct{ base }

const wrapperURI = "urn:x-a2a:trace:"

// about: a call's end has nothing of its beginning.
func (wrapper) about() about {
	return about{name: "a2a-wrapper", sign: wrapperURI, traits: Traits{Differences: true}}
}

func (wrapper) matchesCard(card *a2a.Card) bool { return declares(card, wrapperURI) }

func (wrapper) recognizes(ev *a2a.Event) bool {
	return ev.Kind == a2a.EventArtifact && wrapperTraces(&ev.Artifact)
}

// wrapperTraces reports whether an artifact is of the extension.
func wrapperTraces(a *a2a.Artifact) bool {
	return strings.Contains(string(a.Extensions), `"`+wrapperURI)
}

// message: each turn begins with a filler, which stays in the task's history. It ends none.
func (wrapper) message(m *a2a.Message, at *Carrier, _ *Pieces) bool {
	return !at.Ends && m.Parts.Text() == "Processing request..."
}

func (wrapper) artifact(a *a2a.Artifact, at *Carrier, to *Pieces) bool {
	switch {
	case wrapperTraces(a):
		for p := range a.Parts.All() {
			if p.Kind == a2a.PartData {
				wrapperTrace(a, gjson.Parse(string(p.Data)), to)
			} else {
				to.part(p) // another agent's, with that extension
			}
		}
		return true
	case a.Name != "response" || !isText(a.Parts):
	case at.Held:
		return splitHeld(a, at, to)
	case at.Appends && at.Last && at.Streamed:
		to.text(PieceWhole, a.Parts.Text())
		return true
	case at.Appends:
		to.text(PieceDelta, a.Parts.Text())
		return true
	}
	return false
}

// isText reports whether parts are nothing but text.
func isText(parts a2a.Parts) bool {
	return !a2a.Any(parts.All(), func(p *a2a.Part) bool { return p.Kind != a2a.PartText })
}

// wrapperTrace adds what a data part of the extension's tells; its artifact's name is the kind.
func wrapperTrace(a *a2a.Artifact, v gjson.Result, to *Pieces) {
	switch a.Name {
	case "trace.thinking":
		to.text(PieceThought, v.Get("content").Str)
	case "trace.mcp.start":
		to.call(wrapperCall(v, calls.Executing))
	case "trace.mcp":
		c := wrapperCall(v, calls.Succeeded)
		c.Input = ""
		out := first(v, "output", "result")
		if status := v.Get("status").Str; v.Get("isError").Bool() || status == "error" || status == "failed" {
			c.Status = calls.Failed
			c.Error = &calls.ErrorDetails{Message: cmp.Or(v.Get("error").Str, out.String())}
		} else if out.Exists() {
			c.Output = &calls.Output{Text: out.String()}
		}
		to.call(c)
	case "trace.decision":
		wrapperDecision(a.ID, v, to)
	default: // that it begins, ends, or fails: a2a-codex says the model's reason nowhere else
		if u := v.Get("usage"); u.IsObject() {
			to.Usage = a2a.JSON(u.Raw)
		}
		if v.Get("state").Str == "error" {
			to.text(PieceText, v.Get("message").Str)
		}
	}
}

// wrapperCall has a call's ID and what it does: a shell's command, a tool of its agent's own, or one of a server's.
func wrapperCall(v gjson.Result, status calls.Status) calls.ToolCall {
	c := calls.ToolCall{ID: first(v, "itemId", "toolCallId").Str, Name: first(v, "toolName", "tool").Str, Status: status, Input: a2a.JSON(first(v, "arguments", "args").Raw)}
	if readCodexItem(v, &c); c.Kind == acp.KindExecute {
		c.Name = "shell"
	}
	return c
}

// wrapperDecision is what has no beginning and no end: files that have changed, a to-do list, a call that was refused.
func wrapperDecision(id string, v gjson.Result, to *Pieces) {
	c := calls.ToolCall{ID: id, Status: calls.Succeeded}
	switch readCodexItem(v, &c); v.Get("kind").Str {
	case "file_change":
		c.Name = "file_change"
	case "todo_list":
		c.Name = "update_plan"
	case "permission_denied":
		c.Name, c.Status, c.Error = v.Get("tool").Str, calls.Failed, &calls.ErrorDetails{Message: v.Get("message").Str}
	default:
		return
	}
	to.call(c)
}

package mapping

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// shared is what codex-a2a and opencode-a2a speak, whose metadata have the key shared.
// Read in source only (liujuanjuan1984/codex-a2a, 2026-08-22; Intelligent-Internet's
// opencode-a2a, 2026-03-27).
//
// All that the agent says is one artifact, and each piece's metadata say whether it is
// text, reasoning or a tool call; a piece whose source is final_snapshot is the whole
// answer again, though it is appended. Questions are status updates without a message,
// in state input-required, while the run goes on; they are answered by methods of the
// agent's own. In a task's snapshot the pieces cannot be told apart any more.
type shared struct{ quiet }

func (shared) name() string { return "shared" }

func (shared) traits() Traits { return Traits{Differences: true, GoesOnAsking: true} }

func (shared) sign() string { return `"shared"` }

// sharedURIs are the beginnings of its extensions' URIs.
func (shared) tells(card *a2a.Card) bool {
	return declares(card, "urn:codex-a2a:extension:") || declares(card, "urn:a2a:stream-hints/") || declares(card, "urn:opencode-a2a:")
}

func (shared) extensions() []string {
	return []string{"urn:codex-a2a:extension:session-binding:v1", "urn:codex-a2a:extension:stream-hints:v1", "urn:codex-a2a:extension:interactive-interrupt:v1",
		"urn:a2a:session-binding/v1", "urn:a2a:stream-hints/v1"}
}

func (shared) knows(ev *a2a.Event) bool {
	return gjson.Get(string(ev.Artifact.Metadata), "shared.stream.block_type").Exists() || gjson.Get(string(ev.Metadata), "shared.interrupt.request_id").Exists()
}

// event reads what a status update says without a message.
func (d shared) event(at *carrier, to *pieces) {
	v := gjson.Get(string(at.metadata), "shared")
	if u := v.Get("usage"); u.IsObject() {
		to.usage = a2a.JSON(u.Raw)
	}
	switch i := v.Get("interrupt"); i.Get("phase").Str {
	case "asked":
		d.asked(i, to)
	case "resolved":
		c := ToolCall{ID: "interrupt-" + i.Get("request_id").String(), Status: ToolSucceeded, Bare: true}
		if r := i.Get("resolution").Str; strings.Contains(r, "reject") || strings.Contains(r, "decline") || strings.Contains(r, "cancel") || strings.Contains(r, "expired") {
			c.Status, c.Error = ToolCancelled, &ErrorDetails{Message: "Not allowed: " + r + "."}
		}
		to.call(c)
	}
}

func (d shared) artifact(a *a2a.Artifact, at *carrier, to *pieces) bool {
	stream := gjson.Get(string(a.Metadata), "shared.stream")
	if at.held {
		if !at.seen {
			return false // an answer as A2A has it
		}
		return stream.IsObject()
	}
	block := stream.Get("block_type").Str
	if block == "" {
		return false
	}
	if stream.Get("role").Str == "user" {
		return true
	}
	alone := a.ID
	if id := stream.Get("message_id").Str; id != "" {
		alone += "/" + id
	}
	for p := range a.Parts.All() {
		switch {
		case block == "tool_call":
			d.tool(p, to)
		case p.Kind != a2a.PartText:
			to.part(p)
		case block == "reasoning":
			to.list = append(to.list, piece{kind: pieceThought, text: p.Text, alone: alone})
		case stream.Get("source").Str == "final_snapshot":
			to.list = append(to.list, piece{kind: pieceWhole, text: p.Text, alone: a.ID + "/final"})
		default:
			to.list = append(to.list, piece{kind: pieceDelta, text: p.Text, alone: alone})
		}
	}
	return true
}

// tool reads a piece of a call: what has become of it, or what it has put out. It is
// text where the client takes no JSON.
func (shared) tool(p *a2a.Part, to *pieces) {
	v := gjson.Parse(string(p.Data))
	if p.Kind == a2a.PartText {
		v = gjson.Parse(p.Text)
	}
	id := v.Get("call_id").String()
	if v.Get("kind").Str == "output_delta" {
		to.output(id, v.Get("output_delta").String())
		return
	}
	if v.Get("kind").Str != "state" {
		to.part(p)
		return
	}
	c := ToolCall{ID: id, Name: v.Get("tool").String(), DisplayName: v.Get("title").String(), Description: v.Get("subtitle").String()}
	if in := v.Get("input"); in.IsObject() {
		c.Input = a2a.JSON(in.Raw)
	} else if in.Exists() && in.Type != gjson.Null {
		c.Input = a2a.JSON(`{"input":` + in.Raw + `}`)
	}
	if v.Get("source_method").Str == "commandExecution" || rawjson.IsString(rawjson.Member(string(c.Input), "command")) {
		c.Kind = acp.KindExecute
	}
	switch v.Get("status").Str {
	case "pending":
		c.Status = ToolPending
	case "running":
		c.Status = ToolExecuting
	case "completed":
		c.Status = ToolSucceeded
		if out := v.Get("output"); out.Type == gjson.String {
			c.Output = &ToolOutput{Text: out.Str}
		} else if out.Exists() && out.Type != gjson.Null {
			c.Output = &ToolOutput{Data: a2a.JSON(out.Raw)}
		}
	case "failed":
		c.Status, c.Error = ToolFailed, &ErrorDetails{Message: v.Get("error").String()}
	case "cancelled":
		c.Status = ToolCancelled
	}
	to.call(c)
}

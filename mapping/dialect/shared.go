package dialect

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// shared is what the Python programs codex-a2a and opencode-a2a say, each of which puts its coding
// agent behind A2A. All that a turn says is one artifact; metadata tells of each piece whether it is text,
// reasoning or a call, and opencode-a2a appends the last text again as a whole. A task that is looked at has
// lost that: thoughts of which nothing was shown are answer there. What they ask is answered by methods of
// their own (a2a.interrupt.permission.reply, …), which we do not have: codex-a2a says neither which command it
// asks about nor which call, and counts its questions anew when it restarts, so that an answer could allow
// something else. Tried with both, of August and March 2026, on Codex 0.169 and opencode 1.18.
type shared struct{ base }

// about: a call is not said anew as a whole by all its events.
func (shared) about() about {
	return about{name: "shared", sign: `"shared"`, traits: Traits{Differences: true, AnsweredElsewhere: true}}
}

// matchesCard: codex-a2a and opencode-a2a declare extensions of their own.
func (shared) matchesCard(card *a2a.Card) bool {
	return declares(card, "urn:codex-a2a:extension:stream-hints:") || declares(card, "urn:a2a:stream-hints/")
}

func (shared) recognizes(*a2a.Event) bool { return false }

func (shared) readMeta(metadata a2a.JSON, m *Meta) bool {
	if in := gjson.Get(string(metadata), "shared.interrupt"); in.Get("request_id").Exists() {
		m.Call = sharedQuestion(in)
		return true
	}
	u := gjson.Get(string(metadata), "shared.usage")
	if !u.IsObject() || !gjson.Get(string(metadata), "shared.stream.source").Exists() {
		return false
	}
	m.Usage = a2a.JSON(u.Raw)
	return true
}

// sharedQuestion reads a question as a call of its own: nothing tells which call it is about.
func sharedQuestion(in gjson.Result) *calls.ToolCall {
	details := in.Get("details")
	c := &calls.ToolCall{ID: "interrupt-" + in.Get("request_id").String(), Kind: acp.KindOther}
	if in.Get("phase").Str != "asked" {
		c.Status = calls.Succeeded
		return c
	}
	c.Name = cmp.Or(details.Get("permission").String(), in.Get("type").String())
	var words []string
	for _, w := range details.Get("patterns").Array() {
		words = append(words, w.String())
	}
	for _, q := range details.Get("questions").Array() {
		words = append(words, q.Get("question").String())
	}
	c.Description = cmp.Or(strings.Join(words, ", "), details.Get("display_message").String())
	c.Status, c.Asks = calls.Pending, true
	c.Confirmation = &calls.Confirmation{Unread: a2a.JSON(details.Raw)}
	return c
}

func (shared) artifact(a *a2a.Artifact, at *Carrier, to *Pieces) bool {
	hints := gjson.GetMany(string(a.Metadata), "shared.stream.block_type", "shared.stream.source")
	if !hints[0].Exists() {
		return false
	}
	if at.Held {
		heldShared(a, at, to)
		return true
	}
	for p := range a.Parts.All() {
		switch {
		case p.Kind != a2a.PartText:
			sharedPart(p, to)
		case hints[0].Str == "reasoning":
			to.text(PieceThought, p.Text)
		case hints[1].Str == "final_snapshot":
			to.text(PieceWhole, p.Text)
		default:
			to.text(PieceDelta, p.Text)
		}
	}
	return true
}

// heldShared splits an artifact that a task holds: what was shown as thoughts is known by its text.
func heldShared(a *a2a.Artifact, at *Carrier, to *Pieces) {
	var held Pieces
	splitHeld(a, at, &held)
	thoughts, rest := -1, at.Thoughts
	for i := range held.List {
		p := &held.List[i]
		behind, thought := strings.CutPrefix(rest, p.Text)
		switch {
		case p.Kind == PiecePart:
			sharedPart(&p.Part, to)
		case !thought:
			to.text(PieceText, p.Text)
		case thoughts < 0:
			thoughts, rest = len(to.List), behind
			to.text(PieceWholeThought, p.Text)
		default:
			rest = behind
			to.List[thoughts].Text += p.Text
		}
	}
}

// sharedPart adds a part that is no text: a call, or what it is.
func sharedPart(p *a2a.Part, to *Pieces) {
	if v := gjson.Parse(string(p.Data)); p.Kind == a2a.PartData && v.Get("call_id").Exists() {
		sharedCall(v, to)
		return
	}
	to.part(p)
}

func sharedCall(v gjson.Result, to *Pieces) {
	c := calls.ToolCall{ID: v.Get("call_id").String(), Name: first(v, "tool", "source_method").String(), Description: v.Get("title").String()}
	if v.Get("kind").Str == "output_delta" {
		to.output(c.ID, v.Get("output_delta").String())
		return
	}
	c.Status = statusOf(v)
	switch c.Name {
	case "commandExecution", "bash":
		c.Kind = acp.KindExecute
	case "fileChange", "edit", "write":
		c.Kind = acp.KindEdit
	}
	if input := v.Get("input"); input.IsObject() && input.Raw != "{}" {
		c.Input = a2a.JSON(input.Raw)
	}
	switch out := v.Get("output"); {
	case out.Type == gjson.String:
		c.Output = &calls.Output{Text: out.Str}
	case out.Get("text").Exists():
		c.Output = &calls.Output{Text: out.Get("text").String()}
	case out.IsObject():
		c.Output = &calls.Output{Data: a2a.JSON(out.Raw)}
	}
	if why := strings.TrimSpace(v.Get("error").String()); why != "" && c.Status == calls.Failed {
		c.Output, c.Error = nil, &calls.ErrorDetails{Message: why}
	}
	to.call(c)
}

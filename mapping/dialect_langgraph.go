package mapping

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// langgraph is LangGraph's Agent Server. Read in source only (langgraph_api/api/a2a.py,
// three copies of 2025 and 2026). Calls and their results are data parts beside the text,
// which says a result again; an interrupt is an artifact of that name, whose data a text
// answers. Each status message has an ID of its own, and all of the text so far.
type langgraph struct{ quiet }

func (langgraph) name() string { return "langgraph" }

// traits: a snapshot's messages are chunks, too.
func (langgraph) traits() Traits { return Traits{Differences: true, Chunks: true} }

func (langgraph) sign() string { return `"tool_` }

// tells: a card is of an assistant, whose ID is the end of its address, and begins the ID
// of its only skill.
func (langgraph) tells(card *a2a.Card) bool {
	for _, i := range card.Interfaces {
		_, id, ok := strings.Cut(i.URL, "/a2a/")
		if ok && id != "" && len(card.Skills) == 1 && card.Skills[0].ID == id+"-main" {
			return true
		}
	}
	return false
}

func (d langgraph) knows(ev *a2a.Event) bool {
	if !ev.HasMessage {
		return false
	}
	var p a2a.Part
	p.FastPath().Lazy = true // of a text nothing is read
	for left := ev.Message.Parts; left.Next(&p); {
		if x := langgraphData(&p); x.calls.Exists() || x.results.Exists() {
			return true
		}
	}
	return false
}

// langgraphExtra is what a message has beside its text. is: it has nothing else.
type langgraphExtra struct {
	is             bool
	calls, results gjson.Result
}

func langgraphData(p *a2a.Part) (x langgraphExtra) {
	if p.Kind != a2a.PartData {
		return x
	}
	v := gjson.Parse(string(p.Data))
	x.is = v.IsObject()
	v.ForEach(func(k, m gjson.Result) bool {
		switch {
		case k.Str == "tool_calls" && m.Get("0.name").Exists():
			x.calls = m
		case k.Str == "tool_results" && m.Get("0.toolCallId").Exists():
			x.results = m
		case k.Str != "response_metadata": // older servers'
			x = langgraphExtra{}
			return false
		}
		return true
	})
	return x
}

func (d langgraph) message(m *a2a.Message, at *carrier, to *pieces) bool {
	found, isResult := false, false
	for p := range m.Parts.All() {
		x := langgraphData(p)
		found = found || x.is
		isResult = isResult || x.results.Exists()
	}
	streams := at.state == a2a.StateWorking && !at.held && !at.ends
	if !found && !streams {
		return false
	}
	for p := range m.Parts.All() {
		x := langgraphData(p)
		switch {
		case x.is:
			x.calls.ForEach(func(_, c gjson.Result) bool { d.call(c, to); return true })
			x.results.ForEach(func(_, r gjson.Result) bool { d.result(r, to); return true })
		case p.Kind == a2a.PartText && isResult:
			at.mem.said = "" // what comes is another text
		case p.Kind == a2a.PartText && streams:
			d.text(p.Text, m.ID, at, to)
		case p.Kind == a2a.PartText:
			to.text(pieceText, p.Text)
		default:
			to.part(p)
		}
	}
	return true
}

// text shows what is new in a message: some servers send a text from its beginning each
// time, others piece by piece; the second message tells which.
func (langgraph) text(text, id string, at *carrier, to *pieces) {
	mem := at.mem
	rest, again := strings.CutPrefix(text, mem.said)
	fresh := false
	switch {
	case mem.said != "" && again && (rest != "" || mem.soFar || strings.Contains(text, " ")):
		mem.soFar = mem.soFar || rest != ""
		mem.said = strings.Clone(text)
		text = rest
	case mem.said == "" || mem.soFar:
		fresh = true
		mem.said, mem.saidID = strings.Clone(text), strings.Clone(id)
	case len(mem.said) < maxStreamed:
		mem.said += text
	}
	if text != "" {
		to.list = append(to.list, piece{kind: pieceDelta, text: text, alone: mem.saidID, fresh: fresh})
	}
}

func (langgraph) call(c gjson.Result, to *pieces) {
	if id := c.Get("id").String(); id != "" {
		to.call(ToolCall{ID: id, Name: c.Get("name").String(), Input: a2a.JSON(c.Get("args").Raw), Status: ToolExecuting})
	}
}

func (langgraph) result(r gjson.Result, to *pieces) {
	c := ToolCall{ID: r.Get("toolCallId").String(), Name: r.Get("name").String(), Status: ToolSucceeded}
	text := first(r, "content", "result", "output").String()
	if c.Output = (&ToolOutput{Text: text}); r.Get("status").Str == "error" || r.Get("isError").Bool() {
		c.Status, c.Output, c.Error = ToolFailed, nil, &ErrorDetails{Message: text}
	}
	to.call(c)
}

func (langgraph) artifact(a *a2a.Artifact, _ *carrier, to *pieces) bool {
	if a.Name != "Interrupt" {
		return false
	}
	for p := range a.Parts.All() {
		v := gjson.Get(string(p.Data), "value")
		text := v.String()
		if v.IsObject() {
			if q := first(v, "question", "message", "prompt", "text"); q.Type == gjson.String {
				text = q.Str
			}
		}
		if text = strings.TrimSpace(text); text != "" {
			to.text(pieceText, text+"\n")
		}
	}
	return true
}

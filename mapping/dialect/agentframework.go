package dialect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// agentFramework is github.com/microsoft/agent-framework-go's server. What is not text it says as JSON in a text part:
// calls, their results, thoughts, numbers of tokens. Nothing beside tells that from text, so it is read only if the user
// says that it is this agent, and only what the server's encoder writes, to the byte: all members in their order, no
// white space, <, > and & escaped. A model that is asked for such JSON streams it in pieces, or, in a message, says a
// call without its result: that stays text. Recorded from main of July 2026.
type agentFramework struct{ base }

// about: a result names its call by its ID alone.
func (agentFramework) about() about {
	return about{name: "agent-framework", sign: `,\"Type\":\"`, traits: Traits{Differences: true}}
}

// maySplit reports whether a text may be something else, also where texts of its shape were text. It is quick.
func maySplit(text string) bool {
	return strings.HasPrefix(text, `{"`) && strings.HasSuffix(text, `"}`) && strings.Contains(text, `,"Type":"`)
}

// maxMembers is longer than the names of all members are, and than what is said of a call: 100,000 others are not joined.
const maxMembers = 64

// frameworkPart returns what a part is, "" if it is what it says. An approval that is asked for is not read: no message
// can answer it.
func frameworkPart(p *a2a.Part) (kind string, v gjson.Result) {
	if p.Kind != a2a.PartText || !maySplit(p.Text) {
		return "", v
	}
	members := ""
	gjson.Parse(p.Text).ForEach(func(name, value gjson.Result) bool {
		members, kind = members+name.Str+" ", value.Str
		return len(members) <= maxMembers
	})
	switch members + kind {
	case "Arguments CallID Name InformationalOnly Type functionCall", "Arguments CallID Error Name InformationalOnly Type functionCall",
		"CallID Result Type functionResult", "CallID Error Type functionResult", "CallID Error Result Type functionResult",
		"Text Type reasoning", "ProtectedData Text Type reasoning", "Details Type usage":
		if b, err := json.Marshal(json.RawMessage(p.Text)); err == nil && string(b) == p.Text { // as the server's encoder
			return kind, gjson.Parse(p.Text)
		}
	}
	return "", v
}

func (agentFramework) recognizes(*a2a.Event) bool { return false }

func (agentFramework) artifact(a *a2a.Artifact, at *Carrier, to *Pieces) bool {
	thought := PieceThought
	if at.Held {
		thought = PieceWholeThought
	}
	return splitFramework(a.Parts, thought, at.Appends, nil, to)
}

// message: an answer without a stream has calls and their results together, and something behind a thought.
func (agentFramework) message(m *a2a.Message, _ *Carrier, to *Pieces) bool {
	said := map[string]string{}
	for p := range m.Parts.All() {
		kind, v := frameworkPart(p)
		if id := v.Get("CallID").Str; len(said[id]) <= maxMembers {
			said[id] += kind
		}
	}
	return splitFramework(m.Parts, PieceWholeThought, false, said, to) &&
		slices.ContainsFunc(to.List, func(p Piece) bool { return p.Kind != PieceWholeThought })
}

// splitFramework splits parts; false: all are what they say. Numbers of tokens stand behind something. Thoughts are one.
// said, if not nil, is what is said of each call: both, or it is text.
func splitFramework(parts a2a.Parts, thought PieceKind, behind bool, said map[string]string, to *Pieces) (splits bool) {
	first, thoughts := -1, strings.Builder{}
	for p := range parts.All() {
		kind, v := frameworkPart(p)
		c := calls.ToolCall{ID: v.Get("CallID").Str, Name: v.Get("Name").Str, Status: calls.Executing}
		isCall := said == nil || said[c.ID] == "functionCallfunctionResult"
		switch {
		case kind == "usage" && v.Get("Details").IsObject() && (behind || len(to.List) > 0):
			to.Usage = a2a.JSON(v.Get("Details").Raw)
		case kind == "reasoning":
			if first < 0 {
				first = len(to.List)
				to.text(thought, "")
			}
			thoughts.WriteString(v.Get("Text").String())
		case kind == "functionCall" && isCall:
			if c.Input = a2a.JSON(v.Get("Arguments").Str); !gjson.Valid(string(c.Input)) { // a model has written it
				c.Input = a2a.JSON(v.Get("Arguments").Raw)
			}
			to.call(c)
		case kind == "functionResult" && isCall:
			frameworkResult(c, v, to)
		case p.Kind == a2a.PartText:
			to.text(PieceText, p.Text)
			continue
		default:
			to.part(p)
			continue
		}
		splits = true
	}
	if first >= 0 {
		to.List[first].Text = thoughts.String()
	}
	return splits
}

// frameworkResult adds a call's end. One that has failed has the reason, and what the model is told in its place.
func frameworkResult(c calls.ToolCall, v gjson.Result, to *Pieces) {
	result := v.Get("Result")
	switch c.Status = calls.Succeeded; {
	case v.Get("Error").Exists():
		c.Status, c.Error = calls.Failed, &calls.ErrorDetails{Message: v.Get("Error").String()}
	case result.IsObject() || result.IsArray():
		c.Output = &calls.Output{Data: a2a.JSON(result.Raw)}
	default:
		c.Output = &calls.Output{Text: result.String()}
	}
	to.call(c)
}

package spell

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has what version 2 of ACP spells otherwise than version 1: messages that are
// replaced in place, the state of a session, and questions.

// Places says where version 2 shows a session's items, so that what replaces one takes its
// place: see [ACP.V2]. It outlives the ACP of a turn. The zero value is ready.
type Places struct {
	shown map[itemLine][]string // the messages that show an item, in their order
	owner map[string]itemLine   // the item that a message shows, the zero one if it shows several
	as    map[string]string     // names of messages that took the place of others
	whole bool                  // the content block that is spelled next is all of its message
	notes int                   // what the bridge itself has said, which no agent has named

	terminals terminals
}

// maxPlaces bounds what a turn keeps: of more items, and more often, none is replaced.
const maxPlaces = 1 << 14

// Turn notes that a turn begins: what an earlier one has shown stays.
func (p *Places) Turn() {
	clear(p.shown)
	clear(p.owner)
	clear(p.as)
}

// close closes a content block's array, if it is in one, and returns the name of its message,
// which version 2 always has.
func (p *Places) close(dst []byte, name string) ([]byte, string) {
	if p.whole {
		p.whole, dst = false, append(dst, ']')
	}
	return dst, p.name(name)
}

// name is how the editor knows a message.
func (p *Places) name(shown string) string {
	if as, ok := p.as[shown]; ok {
		return as
	}
	return cmp.Or(shown, "~") // some agents leave a message without a name
}

// note is a new name for a message that the bridge itself says; "" in version 1, which has no
// Places, and whose messages need none.
func (p *Places) note() string {
	if p == nil {
		return ""
	}
	p.notes++
	return "note~" + strconv.Itoa(p.notes)
}

// place notes where a step of an item is shown. If the step replaces the item, it takes the place
// of all that was shown of it, unless other items are shown in the same messages.
func (e *ACP) place(dst []byte, s *mapping.Step) []byte {
	p := e.V2
	if s.Shown == "" {
		return dst
	}
	item := itemLine{task: s.TaskID, kind: "message", id: s.MessageID}
	if s.ArtifactID != "" {
		item.kind, item.id = "artifact", s.ArtifactID
	}
	name, names := p.name(s.Shown), p.shown[item]
	alone := func(name string) bool { return p.owner[name] == item }
	if s.Replaces && len(names) > 0 && len(p.as) < maxPlaces && !slices.ContainsFunc(names, func(n string) bool { return !alone(n) }) {
		if p.as == nil {
			p.as = map[string]string{}
		}
		for _, other := range names[1:] {
			dst = append(e.open(dst, "agent_message"), `,"content":[],"messageId":`...)
			dst = e.close(rawjson.AppendString(dst, other))
		}
		p.as[strings.Clone(s.Shown)] = names[0]
		p.shown[item], p.whole = names[:1], true
		return dst
	}
	if slices.Contains(names, name) || len(p.owner) >= maxPlaces {
		return dst
	}
	if p.shown == nil {
		p.shown, p.owner = map[itemLine][]string{}, map[string]itemLine{}
	}
	item.task, item.id, name = strings.Clone(item.task), strings.Clone(item.id), strings.Clone(name)
	p.shown[item] = append(names, name)
	if _, shared := p.owner[name]; shared {
		item = itemLine{}
	}
	p.owner[name] = item
	return dst
}

// Said appends what the user says, as an editor of version 2 is told: his message appears where
// it takes its place in the conversation.
func (e *ACP) Said(dst []byte, prompt a2a.JSON, messageID string) []byte {
	e.V2.whole = true
	dst = e.UserMessage(dst, prompt, messageID)
	e.V2.whole = false
	return dst
}

// State appends what a session does, one of ACP's words.
func (e *ACP) State(dst []byte, state string) []byte {
	return e.close(append(e.open(dst, "state_update"), `,"state":"`+state+`"`...))
}

// permission2 returns the parameters of session/request_permission. What is asked is a command if
// the agent has said which, and where, and nothing else; else it is the call.
func (e *ACP) permission2(q mapping.Question) json.RawMessage {
	c := q.Call
	dst := rawjson.AppendString([]byte(`{"sessionId":`), e.Session)
	dst = rawjson.AppendString(append(dst, `,"title":`...), mapping.Title(c))
	e.options = q.Options
	if text := e.toolText(c); text.text != "" {
		dst = append(text.append(append(dst, `,"description":"`...)), '"')
	}
	if command, dir := ask.CommandOnly(c); command != "" && dir != "" {
		dst = rawjson.AppendString(append(dst, `,"subject":{"type":"command","command":`...), command)
		dst = rawjson.AppendString(append(dst, `,"cwd":`...), absolute(e.Cwd, dir))
		dst = rawjson.AppendString(append(dst, `,"toolCallId":`...), c.Shown)
		if e.V2.terminals[c.Shown] != nil {
			dst = rawjson.AppendString(append(dst, `,"terminalId":`...), c.Shown)
		}
	} else {
		dst = rawjson.AppendString(append(dst, `,"subject":{"type":"tool_call","toolCall":{"toolCallId":`...), c.Shown)
		dst = append(e.toolFields(dst, c, mapping.ToolHead|mapping.ToolState|mapping.ToolContent), '}')
	}
	e.options = nil
	return appendOptions(append(dst, '}'), q.Options)
}

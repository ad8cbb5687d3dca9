package spell

import (
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// This file spells the bridge's own messages for editors that take notices (ACP,
// Session Notices): they tell the present state, and are no part of the conversation.

// notice appends a notice of a text that is written as a message: in brackets, with
// empty lines around it. Its first sentence is the title.
func (e *ACP) notice(dst []byte, severity, text string) []byte {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(inner, "]")
	}
	title, description, _ := strings.Cut(text, ". ")
	if title == "" {
		return dst // the schema wants one
	}
	if title = ask.OneLine(title); !strings.HasPrefix(text, title) {
		description = text // the title lacks the end
	}
	dst = e.open(dst, "notice")
	dst = append(dst, `,"severity":"`+severity+`","title":`...)
	dst = rawjson.AppendString(dst, title)
	if description != "" {
		dst = rawjson.AppendString(append(dst, `,"description":`...), description)
	}
	return e.close(dst)
}

func severity(s *mapping.Step) string {
	if s.Harmless {
		return "info"
	}
	return "warning"
}

// gapNotice says that something may be missing.
const gapNotice = "\n[The connection to the agent was lost, and the agent may not hold all that it said meanwhile.]\n"

// connectionChange appends what an editor hears of the connection to the agent: that it is lost
// and was not restored at once, and that something may be missing. With notices it also
// hears of silence, and that the connection is back.
func (e *ACP) connectionChange(dst []byte, c *mapping.Connection) []byte {
	const lost = "\n[The connection to the agent is lost. It is tried again until it is back.]\n"
	const waiting = "\n[The agent does not accept connections any more: it is waited for.]\n"
	was := e.outage.Told
	tell := e.outage.Tell(c, 2)
	switch {
	case c.Phase == mapping.PhaseWaiting:
		return e.tell(dst, "warning", waiting)
	case c.Silent > 0 && e.Notices:
		return e.silence(dst, c.Silent)
	case c.Gap:
		return e.tell(dst, "warning", gapNotice)
	case tell:
		return e.tell(dst, "warning", lost)
	case c.Phase == mapping.PhaseResumed && was && e.Notices:
		return e.notice(dst, "info", "The connection to the agent is back.")
	}
	return dst
}

// silence tells for how long nothing has come. In version 2 it does that in one message for each
// silence, where the longer time takes the place of the shorter one.
func (e *ACP) silence(dst []byte, seconds int) []byte {
	const least = 30 // a shorter one is not worth a notice that stays
	text := "Nothing has come from the agent for " + strconv.Itoa(seconds) + " seconds. It may be at work all the same."
	switch {
	case seconds < least:
		e.silenceID = "" // another one begins
		return dst
	case e.V2 == nil:
		return e.notice(dst, "info", text)
	case e.silenceID == "":
		e.silenceID = e.V2.newNote()
	}
	e.V2.wholeMessage = true
	return e.chunks(dst, "agent_message_chunk", "["+text+"]", e.silenceID)
}

// tell appends what the bridge has to say: as a notice, or as a text.
func (e *ACP) tell(dst []byte, severity, text string) []byte {
	if e.Notices {
		return e.notice(dst, severity, text)
	}
	if e.V2 != nil {
		text = strings.TrimSpace(text) // it is a message of its own
	}
	return e.chunks(dst, "agent_message_chunk", text, e.V2.newNote())
}

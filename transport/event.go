package transport

import (
	"bytes"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file reads events of all spellings. They have one decoder and not one each,
// because agents mix them: Mastra puts 0.3's final into a 1.x statusUpdate, several leave
// kind out, and servers that go through proto-JSON send 1.x enum names under 0.3. The
// names of 0.3's proto, which that version has over HTTP+JSON, are further names of the
// same members. What differs in meaning, the end of a leg, is the version's own
// (protocol.go).
//
// It is lenient: what is missing, null or of a wrong type reads as absent; what
// is unknown stays in Raw. Nothing is copied, except strings with escapes.

// A payload holds the members of an event of any kind, as they are written; "" for those that are
// not there, or null. A status and an artifact are read into the event at once, because every kind that
// may have them has them at this place.
type payload struct {
	kind                                         string
	id, taskID, contextID, messageID, role       string
	artifacts, history, parts                    string
	metadata, final, appends, lastChunk          string
	aTask, aMessage, aStatusUpdate, aChunkUpdate string // 1.x's wrappers
	artifact                                     string // in the event, if it is an object
	hasStatus                                    bool   // an object, which is in the event
}

// read reads the payload at the beginning of s, and into ev its status or its artifact. It returns
// where the payload ends.
func (p *payload) read(s string, ev *a2a.Event) (end int) {
	return rawjson.Walk(s, 0, func(key string, at int) (end int) {
		switch {
		case key == "status" && !isNull(s, at):
			p.hasStatus = rawjson.IsObject(s[at:])
			return readStatus(s, at, ev)
		case key == "artifact" && !isNull(s, at):
			end = readArtifact(s, at, &ev.Artifact, ev.FastPath().Source)
			p.artifact = s[at:end]
			return end
		}
		end = rawjson.SkipValue(s, at)
		value := s[at:end]
		if value == "null" {
			return end
		}
		switch key {
		case "kind":
			p.kind = value
		case "id":
			p.id = value
		case "taskId":
			p.taskID = value
		case "contextId":
			p.contextID = value
		case "messageId":
			p.messageID = value
		case "role":
			p.role = value
		case "artifacts":
			p.artifacts = value
		case "history":
			p.history = value
		case "parts", "content": // 0.3's proto
			p.parts = value
		case "metadata":
			p.metadata = value
		case "final":
			p.final = value
		case "append":
			p.appends = value
		case "lastChunk":
			p.lastChunk = value
		case "task":
			p.aTask = value
		case "message":
			p.aMessage = value
		case "statusUpdate":
			p.aStatusUpdate = value
		case "artifactUpdate":
			p.aChunkUpdate = value
		}
		return end
	})
}

func isNull(s string, at int) bool { return strings.HasPrefix(s[at:], "null") }

// eventKind decides which kind of event a payload is. inner is what 1.x's wrapper holds, "" if there is none.
func (p *payload) eventKind() (kind a2a.EventKind, inner string) {
	switch jsonText(p.kind) {
	case "task":
		return a2a.EventTask, ""
	case "message":
		return a2a.EventMessage, ""
	case "status-update":
		return a2a.EventStatus, ""
	case "artifact-update":
		return a2a.EventArtifact, ""
	case "":
	default:
		// A kind that we do not know is passed on, not guessed at.
		return a2a.EventUnknown, ""
	}
	switch {
	case rawjson.IsObject(p.aStatusUpdate):
		return a2a.EventStatus, p.aStatusUpdate
	case rawjson.IsObject(p.aChunkUpdate):
		return a2a.EventArtifact, p.aChunkUpdate
	case p.isBesideWork():
		p.readBesideTask()
		return a2a.EventArtifact, ""
	case rawjson.IsObject(p.aTask):
		return a2a.EventTask, p.aTask
	case rawjson.IsObject(p.aMessage):
		return a2a.EventMessage, p.aMessage
	case rawjson.IsObject(p.artifact):
		return a2a.EventArtifact, ""
	case p.hasStatus && p.taskID != "":
		return a2a.EventStatus, ""
	case p.hasStatus && p.id != "":
		return a2a.EventTask, ""
	case rawjson.IsArray(p.parts) && (p.role != "" || p.messageID != ""):
		return a2a.EventMessage, ""
	}
	return a2a.EventUnknown, ""
}

// isBesideWork reports whether an artifact stands beside its task, which tells no more than where it belongs. One
// that rests says that the turn is over, or what it asks for.
func (p *payload) isBesideWork() bool {
	if !rawjson.IsObject(p.aTask) || !rawjson.IsObject(p.artifact) {
		return false
	}
	state := readState(rawjson.Member(rawjson.Member(p.aTask, "status"), "state"))
	return !state.Terminal() && !state.Waits()
}

// readBesideTask reads where an artifact belongs that stands beside its task, and not in an artifactUpdate:
// CopilotKit's aimock (1.43) says so, with append and lastChunk in the artifact.
func (p *payload) readBesideTask() {
	p.taskID, p.contextID = rawjson.Member(p.aTask, "id"), rawjson.Member(p.aTask, "contextId")
	p.appends, p.lastChunk = rawjson.Member(p.artifact, "append"), rawjson.Member(p.artifact, "lastChunk")
}

// decodeEvent reads the payload at the beginning of raw into ev, but for EndsLeg, and returns the
// member final. A source that ev has it keeps.
func decodeEvent(raw string, ev *a2a.Event) (final bool) {
	source := ev.FastPath().Source
	var p payload
	read := func(s string) (end int) {
		*ev, p = a2a.Event{}, payload{}
		ev.FastPath().Source = source
		return p.read(s, ev)
	}
	raw = raw[:read(raw)]
	whole := a2a.JSON(raw)
	kind, inner := p.eventKind()
	if beside := p.artifact; inner != "" {
		read(inner)
		raw = inner
		if kind == a2a.EventTask && (p.artifacts == "" || p.artifacts == "[]") && rawjson.IsObject(beside) {
			p.artifacts = "[" + beside + "]"
		}
	}
	ev.Kind, ev.Raw = kind, whole
	ev.Metadata = jsonObject(p.metadata)
	ev.ContextID = jsonText(p.contextID)
	ev.TaskID = jsonText(p.taskID)
	if kind != a2a.EventTask && kind != a2a.EventStatus {
		ev.State, ev.Timestamp, ev.Message, ev.HasMessage = "", "", a2a.Message{}, false
	} else if ev.State == "" {
		ev.State = a2a.StateUnknown
	}
	if kind != a2a.EventArtifact {
		ev.Artifact = a2a.Artifact{}
	}
	switch kind {
	case a2a.EventUnknown:
		// Its IDs may help a reader.
	case a2a.EventTask:
		ev.TaskID = jsonText(p.id)
		if rawjson.IsArray(p.artifacts) {
			ev.Artifacts = artifactsOf(p.artifacts, source)
		}
		if rawjson.IsArray(p.history) {
			ev.History = messagesOf(p.history, source)
		}
	case a2a.EventMessage:
		readMessage(raw, rawjson.SkipSpace(raw, 0), &ev.Message, source)
		ev.HasMessage = true
	case a2a.EventArtifact:
		ev.Append = p.appends == "true"
		ev.LastChunk = p.lastChunk == "true"
	}
	ev.MoreFollows = p.final == "false"
	return p.final == "true"
}

// readStatus reads the task's status at s[at:] into ev's State, Timestamp, Message and HasMessage, and
// returns where it ends.
func readStatus(s string, at int, ev *a2a.Event) (end int) {
	ev.State, ev.Timestamp, ev.Message, ev.HasMessage = a2a.StateUnknown, "", a2a.Message{}, false
	return rawjson.Walk(s, at, func(key string, at int) (end int) {
		if (key == "message" || key == "update") && rawjson.IsObject(s[at:]) { // its JSON name, and its own in 0.3's proto
			ev.HasMessage = true
			return readMessage(s, at, &ev.Message, ev.FastPath().Source)
		}
		end = rawjson.SkipValue(s, at)
		switch key {
		case "state":
			ev.State = readState(s[at:end])
		case "timestamp":
			ev.Timestamp = jsonText(s[at:end])
		case "message": // some servers say a text here
			if text := jsonText(s[at:end]); text != "" && rawjson.IsString(s[at:end]) {
				ev.HasMessage, ev.Message.Role = true, a2a.RoleAgent
				ev.Message.Parts.FastPath().List = []a2a.Part{{Kind: a2a.PartText, Text: text, TextJSON: a2a.JSON(s[at:end])}}
			}
		}
		return end
	})
}

// readMessage reads the message at s[at:]; its JSON need not say that it is one.
// It returns where the message ends.
func readMessage(s string, at int, m *a2a.Message, from *fastpath.Source) (end int) {
	*m = a2a.Message{}
	return rawjson.Walk(s, at, func(key string, at int) (end int) {
		if key == "parts" || key == "content" {
			m.Parts, end = readParts(s, at, from)
			return end
		}
		end = rawjson.SkipValue(s, at)
		value := s[at:end]
		switch key {
		case "messageId":
			m.ID = jsonText(value)
		case "role":
			m.Role = readRole(value)
		case "taskId":
			m.TaskID = jsonText(value)
		case "contextId":
			m.ContextID = jsonText(value)
		case "metadata":
			m.Metadata = jsonObject(value)
		case "referenceTaskIds":
			m.ReferenceTaskIDs = jsonList(value)
		case "extensions":
			m.Extensions = jsonList(value)
		}
		return end
	})
}

// readArtifact reads the artifact at s[at:], and returns where it ends.
func readArtifact(s string, at int, a *a2a.Artifact, from *fastpath.Source) (end int) {
	*a = a2a.Artifact{}
	return rawjson.Walk(s, at, func(key string, at int) (end int) {
		if key == "parts" {
			a.Parts, end = readParts(s, at, from)
			return end
		}
		end = rawjson.SkipValue(s, at)
		value := s[at:end]
		switch key {
		case "artifactId":
			a.ID = jsonText(value)
		case "name":
			a.Name = jsonText(value)
		case "description":
			a.Description = jsonText(value)
		case "metadata":
			a.Metadata = jsonObject(value)
		case "extensions":
			a.Extensions = jsonList(value)
		}
		return end
	})
}

// messagesOf yields the messages of a task's history. Its source is its own, if from, the event's, is any.
func messagesOf(raw string, from *fastpath.Source) iter.Seq[a2a.Message] {
	return func(yield func(a2a.Message) bool) {
		from := from.Fresh()
		rawjson.EachElement(raw, func(value string) bool {
			var m a2a.Message
			readMessage(value, 0, &m, from)
			return yield(m)
		})
	}
}

// jsonList returns a list that is not empty, "" for anything else.
func jsonList(raw string) a2a.JSON {
	if !strings.HasPrefix(raw, "[") || strings.TrimSpace(raw[1:len(raw)-1]) == "" {
		return ""
	}
	return a2a.JSON(raw)
}

// jsonObject returns an object as it is, and anything else as absent.
func jsonObject(raw string) a2a.JSON {
	if !rawjson.IsObject(raw) {
		return ""
	}
	return a2a.JSON(raw)
}

// repairText returns JSON that every reader further on takes for text: bytes that are not UTF-8 become
// U+FFFD, as the event stream standard has it, and so do escapes of half a surrogate pair (\ud83d), which
// agents in JavaScript send when they split a text between two UTF-16 units and
// which strict parsers (Rust's serde_json, and so Zed) refuse. The escapes are
// replaced in b itself: they are equally long.
func repairText(b []byte) []byte {
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	for i := 0; ; {
		k := bytes.IndexByte(b[i:], '\\')
		if k < 0 {
			return b
		}
		i += k
		switch unit := rawjson.EscapedUnit(rawjson.View(b[i:])); {
		case unit < 0xD800 || unit > 0xDFFF:
			// An escape of something else; \\ is two bytes, so that the second
			// does not begin one.
			i = min(i+2, len(b))
		case unit < 0xDC00 && rawjson.EscapedUnit(rawjson.View(b[i+6:]))&^0x3FF == 0xDC00:
			i += 12
		default:
			copy(b[i:], `\ufffd`)
			i += 6
		}
	}
}

// jsonText returns the text of a string value, without a copy unless it has
// escapes. Numbers come back as they are written, because some agents number
// their tasks; anything else is "".
func jsonText(raw string) string {
	if raw != "" && (raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9') {
		return raw
	}
	return rawjson.Text(raw)
}

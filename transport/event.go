package transport

import (
	"iter"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file reads events of both generations. They have one decoder and not one
// each, because agents mix them: Mastra puts 0.3's final into a 1.x
// statusUpdate, several leave kind out, and servers that go through proto-JSON
// send 1.x enum names under 0.3. What differs in meaning, the end of a leg, is
// the version's own (protocol_v03.go, protocol_v1.go).
//
// It is lenient: what is missing, null or of a wrong type reads as absent; what
// is unknown stays in Raw. Nothing is copied, except strings with escapes.

// A reading is what a protocol version adds to the common decoder.
type reading struct {
	// endsLeg says whether an event of this kind and state ends the leg; final
	// is the member of that name.
	endsLeg func(kind a2a.EventKind, state a2a.State, final bool) bool
	// again is for [a2a.Event.Redecode]: a function of the version, and not a
	// closure per event, which would be an allocation each.
	again func(raw a2a.JSON) *a2a.Event
}

// payload holds the members of an event of any kind, as they are written.
type payload struct {
	kind                                         string
	id, taskID, contextID, messageID, role       string
	status, artifact, artifacts, history, parts  string
	metadata, final, appends, lastChunk          string
	aTask, aMessage, aStatusUpdate, aChunkUpdate string // 1.x wrappers
}

func (p *payload) read(raw string) {
	eachMember(raw, func(key, value string) bool {
		if value == "null" {
			return true
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
		case "status":
			p.status = value
		case "artifact":
			p.artifact = value
		case "artifacts":
			p.artifacts = value
		case "history":
			p.history = value
		case "parts":
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
		return true
	})
}

// eventKind decides what a payload is. inner is the payload within a wrapper.
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
	case isObject(p.aStatusUpdate):
		return a2a.EventStatus, p.aStatusUpdate
	case isObject(p.aChunkUpdate):
		return a2a.EventArtifact, p.aChunkUpdate
	case isObject(p.aTask):
		return a2a.EventTask, p.aTask
	case isObject(p.aMessage):
		return a2a.EventMessage, p.aMessage
	case isObject(p.artifact):
		return a2a.EventArtifact, ""
	case isObject(p.status) && p.taskID != "":
		return a2a.EventStatus, ""
	case isObject(p.status) && p.id != "":
		return a2a.EventTask, ""
	case isArray(p.parts) && (p.role != "" || p.messageID != ""):
		return a2a.EventMessage, ""
	}
	return a2a.EventUnknown, ""
}

// decode reads one payload, the result of a JSON-RPC response, into ev.
func (r *reading) decode(raw string, ev *a2a.Event) {
	*ev = a2a.Event{Raw: a2a.JSON(raw), Redecode: r.again}
	var p payload
	p.read(raw)
	kind, inner := p.eventKind()
	if inner != "" {
		p = payload{}
		p.read(inner)
		raw = inner
	}
	ev.Kind = kind
	ev.Metadata = jsonObject(p.metadata)
	ev.ContextID = jsonText(p.contextID)
	ev.TaskID = jsonText(p.taskID)
	switch kind {
	case a2a.EventUnknown:
		// Its IDs may help whoever looks at it; the end of a leg it is not.
		return
	case a2a.EventTask:
		ev.TaskID = jsonText(p.id)
		readStatus(p.status, ev)
		if isArray(p.artifacts) {
			ev.Artifacts = artifactsOf(p.artifacts)
		}
		if isArray(p.history) {
			ev.History = messagesOf(p.history)
		}
	case a2a.EventMessage:
		ev.Message, ev.HasMessage = readMessage(raw), true
	case a2a.EventStatus:
		readStatus(p.status, ev)
	case a2a.EventArtifact:
		ev.Artifact = readArtifact(p.artifact)
		ev.Append = p.appends == "true"
		ev.LastChunk = p.lastChunk == "true"
	}
	ev.EndsLeg = r.endsLeg(kind, ev.State, p.final == "true")
}

// readStatus reads a task's status.
func readStatus(raw string, ev *a2a.Event) {
	ev.State = a2a.StateUnknown
	eachMember(raw, func(key, value string) bool {
		switch key {
		case "state":
			ev.State = readState(value)
		case "message":
			if isObject(value) {
				ev.Message, ev.HasMessage = readMessage(value), true
			}
		case "timestamp":
			ev.Timestamp = jsonText(value)
		}
		return true
	})
}

// readMessage reads a message; its JSON need not say that it is one.
func readMessage(raw string) (m a2a.Message) {
	eachMember(raw, func(key, value string) bool {
		switch key {
		case "messageId":
			m.ID = jsonText(value)
		case "role":
			m.Role = readRole(value)
		case "taskId":
			m.TaskID = jsonText(value)
		case "contextId":
			m.ContextID = jsonText(value)
		case "parts":
			m.Parts = partsOf(value)
		case "metadata":
			m.Metadata = jsonObject(value)
		}
		return true
	})
	return m
}

func readArtifact(raw string) (a a2a.Artifact) {
	eachMember(raw, func(key, value string) bool {
		switch key {
		case "artifactId":
			a.ID = jsonText(value)
		case "name":
			a.Name = jsonText(value)
		case "description":
			a.Description = jsonText(value)
		case "parts":
			a.Parts = partsOf(value)
		case "metadata":
			a.Metadata = jsonObject(value)
		}
		return true
	})
	return a
}

func artifactsOf(raw string) iter.Seq[a2a.Artifact] {
	return func(yield func(a2a.Artifact) bool) {
		eachElement(raw, func(value string) bool { return yield(readArtifact(value)) })
	}
}

func messagesOf(raw string) iter.Seq[a2a.Message] {
	return func(yield func(a2a.Message) bool) {
		eachElement(raw, func(value string) bool { return yield(readMessage(value)) })
	}
}

// jsonObject returns an object as it is, and anything else as absent.
func jsonObject(raw string) a2a.JSON {
	if !isObject(raw) {
		return ""
	}
	return a2a.JSON(raw)
}

package transport

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is the reference for reading events: it finds each object as a whole before
// it reads the members. The product reads an event in one walk.

type refPayload struct {
	kind                                         string
	id, taskID, contextID, messageID, role       string
	status, artifact, artifacts, history, parts  string
	metadata, final, appends, lastChunk          string
	aTask, aMessage, aStatusUpdate, aChunkUpdate string // 1.x wrappers
}

func (p *refPayload) read(raw string) {
	refMembers(raw, func(key, value string) bool {
		if value == "null" {
			return true
		}
		switch key {
		case "kind":
			p.kind = value
		case "id":
			p.id = value
		case "taskId", "task_id":
			p.taskID = value
		case "contextId", "context_id":
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
		case "final", "final_":
			p.final = value
		case "append":
			p.appends = value
		case "lastChunk", "last_chunk":
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

func (p *refPayload) eventKind() (kind a2a.EventKind, inner string) {
	switch refText(p.kind) {
	case "task":
		return a2a.EventTask, ""
	case "message":
		return a2a.EventMessage, ""
	case "status-update":
		return a2a.EventStatus, ""
	case "artifact-update":
		return a2a.EventArtifact, ""
	case "", "streaming-response":
	default:
		// An unknown kind is passed on as it is.
		return a2a.EventUnknown, ""
	}
	switch {
	case refIsObject(p.aStatusUpdate):
		return a2a.EventStatus, p.aStatusUpdate
	case refIsObject(p.aChunkUpdate):
		return a2a.EventArtifact, p.aChunkUpdate
	case refIsObject(p.aTask):
		return a2a.EventTask, p.aTask
	case refIsObject(p.aMessage):
		return a2a.EventMessage, p.aMessage
	case refIsObject(p.artifact):
		return a2a.EventArtifact, ""
	case refIsObject(p.status) && p.taskID != "":
		return a2a.EventStatus, ""
	case refIsObject(p.status) && p.id != "":
		return a2a.EventTask, ""
	case refIsArray(p.parts) && (p.role != "" || p.messageID != ""):
		return a2a.EventMessage, ""
	}
	return a2a.EventUnknown, ""
}

func refDecode(r *reading, raw string, ev *a2a.Event) {
	*ev = a2a.Event{Raw: a2a.JSON(raw)}
	ev.FastPath().Redecode = r.again
	var p refPayload
	p.read(raw)
	kind, inner := p.eventKind()
	if inner != "" {
		p = refPayload{}
		p.read(inner)
		raw = inner
	}
	ev.Kind = kind
	ev.Metadata = jsonObject(p.metadata)
	ev.ContextID = refText(p.contextID)
	ev.TaskID = refText(p.taskID)
	switch kind {
	case a2a.EventUnknown:
		// It keeps its IDs, but does not end the leg.
		return
	case a2a.EventTask:
		ev.TaskID = refText(p.id)
		refReadStatus(p.status, ev)
		if refIsArray(p.artifacts) {
			ev.Artifacts = refArtifactsOf(p.artifacts)
		}
		if refIsArray(p.history) {
			ev.History = refMessagesOf(p.history)
		}
	case a2a.EventMessage:
		ev.Message, ev.HasMessage = refReadMessage(raw), true
	case a2a.EventStatus:
		refReadStatus(p.status, ev)
	case a2a.EventArtifact:
		ev.Artifact = refReadArtifact(p.artifact)
		ev.Append = p.appends == "true"
		ev.LastChunk = p.lastChunk == "true"
	}
	ev.EndsLeg = r.endsLeg(kind, ev.State, p.final == "true")
}

func refReadStatus(raw string, ev *a2a.Event) {
	ev.State = a2a.StateUnknown
	refMembers(raw, func(key, value string) bool {
		switch key {
		case "state":
			ev.State = readState(value)
		case "message":
			if refIsObject(value) {
				ev.Message, ev.HasMessage = refReadMessage(value), true
			}
		case "timestamp":
			ev.Timestamp = refText(value)
		}
		return true
	})
}

func refReadMessage(raw string) (m a2a.Message) {
	refMembers(raw, func(key, value string) bool {
		switch key {
		case "messageId":
			m.ID = refText(value)
		case "role":
			m.Role = readRole(value)
		case "taskId", "task_id":
			m.TaskID = refText(value)
		case "contextId", "context_id":
			m.ContextID = refText(value)
		case "parts":
			m.Parts = refPartsOf(value)
		case "metadata":
			m.Metadata = jsonObject(value)
		case "referenceTaskIds":
			m.ReferenceTaskIDs = jsonList(value)
		case "extensions":
			m.Extensions = jsonList(value)
		}
		return true
	})
	return m
}

func refReadArtifact(raw string) (a a2a.Artifact) {
	refMembers(raw, func(key, value string) bool {
		switch key {
		case "artifactId":
			a.ID = refText(value)
		case "id":
			if a.ID == "" {
				a.ID = refText(value)
			}
		case "name":
			a.Name = refText(value)
		case "description":
			a.Description = refText(value)
		case "parts":
			a.Parts = refPartsOf(value)
		case "metadata":
			a.Metadata = jsonObject(value)
		}
		return true
	})
	return a
}

func refArtifactsOf(raw string) iter.Seq[a2a.Artifact] {
	return func(yield func(a2a.Artifact) bool) {
		refElements(raw, func(value string) bool { return yield(refReadArtifact(value)) })
	}
}

func refMessagesOf(raw string) iter.Seq[a2a.Message] {
	return func(yield func(a2a.Message) bool) {
		refElements(raw, func(value string) bool { return yield(refReadMessage(value)) })
	}
}

func refPartsOf(raw string) a2a.Parts {
	if !refIsArray(raw) {
		return a2a.Parts{}
	}
	parts := a2a.Parts{Raw: a2a.JSON(raw)}
	parts.FastPath().Step = refNextPart
	return parts
}

func refNextPart(raw string, _ *fastpath.Source, p *a2a.Part) (rest string, ok bool) {
	value, left := refNextElement(raw)
	if value == "" {
		return "", false
	}
	refReadPart(value, p)
	return left, true
}

func refReadPart(raw string, p *a2a.Part) {
	*p = a2a.Part{Raw: a2a.JSON(raw)}
	var kind, text, data, file string
	refMembers(raw, func(key, value string) bool {
		if value == "null" && key != "data" {
			return true
		}
		switch key {
		case "kind":
			kind = refText(value)
		case "text":
			text = value
		case "data":
			data = value
		case "file":
			file = value
		case "metadata":
			p.Metadata = jsonObject(value)
		case "raw":
			p.File.Bytes = refText(value)
		case "url":
			p.File.URI = refText(value)
		case "filename":
			p.File.Name = refText(value)
		case "mediaType":
			p.File.MediaType = refText(value)
		}
		return true
	})
	if refIsObject(file) {
		readFile(file, &p.File)
	}
	if kind == "" {
		switch {
		case text != "":
			kind = "text"
		case file != "" || p.File.Bytes != "" || p.File.URI != "":
			kind = "file"
		case data != "":
			kind = "data"
		}
	}
	switch kind {
	case "text":
		if text == "" {
			text = `""`
		}
		if text[0] == '"' {
			p.Kind, p.Text, p.TextJSON, p.FastPath().Plain = a2a.PartText, refText(text), a2a.JSON(text), plain(text)
		}
	case "file":
		p.Kind = a2a.PartFile
	case "data":
		p.Kind, p.Data = a2a.PartData, a2a.JSON(data)
		unwrapData(p)
	}
	if p.Kind != a2a.PartFile {
		// 1.x allows a file name and a media type on any part; they stay in Raw.
		p.File = a2a.File{}
	}
}

func refNextElement(s string) (value, rest string) {
	i := rawjson.SkipSpace(s, 0)
	if i >= len(s) || s[i] != '[' && s[i] != ',' {
		return "", ""
	}
	i = rawjson.SkipSpace(s, i+1)
	end := rawjson.SkipValue(s, i)
	return s[i:end], s[end:]
}

// FuzzDecode holds the two ways equal.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"v03/go0315-stream-parts.txt", "v1/go2-v1-stream-parts.txt"} {
		for _, frame := range wireFrames(f, "../testdata/wire/"+name) {
			f.Add(readResponse(frame).result)
		}
	}
	f.Add(`{"kind":"task","id":"t","status":null,"status":{"state":"working","message":{"parts":[{"text":"a"},null,1,{"data":null},{"kind":"data","data":{"a":[1]}}]}},"artifact":{"artifactId":"x","parts":[{"text":"b"}]}}`)
	f.Add(`{"kind":"artifact-update","status":{"state":"working","timestamp":"x"},"artifact":{"artifactId":"x","parts":{"text":"a"}},"append":true} `)
	f.Add(` {"statusUpdate":{"status":"x","status":{"state":3},"taskId":"t"},"status":{"message":{}},"id":"1"}`)
	f.Add(`{"parts":[ {"text":"a"} , {"url":"u"} ],"role":"agent","artifact":"x","metadata":{}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		if !rawjson.Valid([]byte(raw)) || !utf8.ValidString(raw) { // what is not UTF-8 is repaired before
			return
		}
		for _, r := range []*reading{{endsLeg: v03EndsLeg}, {endsLeg: v1EndsLeg}} {
			var got, want a2a.Event
			r.decode(raw+`,"more":{}}`, &got)
			refDecode(r, raw, &want)
			if g, w := eventText(&got), eventText(&want); g != w {
				t.Fatalf("%s\ngot\n%s\nwant\n%s", raw, g, w)
			}
		}
	})
}

// eventText is all of an event.
func eventText(ev *a2a.Event) string {
	var w strings.Builder
	wireEvent(&w, ev)
	fmt.Fprintln(&w, strings.TrimSpace(string(ev.Raw)), ev.Timestamp, ev.Metadata, ev.Message.Metadata, ev.Message.ReferenceTaskIDs, ev.Message.Extensions, ev.Artifact.Metadata)
	for _, parts := range []a2a.Parts{ev.Message.Parts, ev.Artifact.Parts} {
		fmt.Fprintln(&w, parts.Raw)
		for p := range parts.All() {
			fmt.Fprintf(&w, "%+v\n", *p)
		}
	}
	return w.String()
}

// Members and texts are found by gjson and encoding/json, which the decoder does not use.

func refMembers(raw string, yield func(key, value string) bool) {
	if v := gjson.Parse(raw); v.IsObject() {
		v.ForEach(func(key, value gjson.Result) bool { return yield(refText(key.Raw), value.Raw) })
	}
}

func refElements(raw string, yield func(value string) bool) {
	if v := gjson.Parse(raw); v.IsArray() {
		v.ForEach(func(_, value gjson.Result) bool { return yield(value.Raw) })
	}
}

func refIsObject(raw string) bool { return strings.HasPrefix(raw, "{") }

func refIsArray(raw string) bool { return strings.HasPrefix(raw, "[") }

// refText is a string's text, or a number as it is written.
func refText(raw string) (text string) {
	switch {
	case raw == "":
	case raw[0] == '"':
		_ = json.Unmarshal([]byte(raw), &text) // what is no string has no text
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		text = raw
	}
	return text
}

package spell

import (
	"encoding/json"
	"strconv"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Lines spells steps as the events of the A2A line protocol, version 1: flat,
// one a line, numbered without a gap (docs/protocol-a2a-lines.md).
type Lines struct {
	// Request is the JSON of the ID of the request that the events belong to.
	Request json.RawMessage
	// Raw adds the agent's own JSON to each event.
	Raw bool
	// Join makes one line of adjacent text of one message: for an editor that is
	// behind. It has no effect with Raw, which belongs to a single event.
	Join bool
	// Made, if set, is told by Append which steps became which lines.
	Made func(steps []mapping.Step, lines []byte)
	// Seq is the number of the last event.
	Seq uint64
}

// Append appends a line for each step.
func (e *Lines) Append(dst []byte, steps []mapping.Step) []byte {
	for i := 0; i < len(steps); {
		n := 1
		for e.Join && !e.Raw && i+n < len(steps) && joins(&steps[i], &steps[i+n]) {
			n++
		}
		from := len(dst)
		dst = e.step(dst, steps[i:i+n])
		if e.Made != nil {
			e.Made(steps[i:i+n], dst[from:])
		}
		i += n
	}
	return dst
}

// step appends the line of a run of steps: one, or text that is joined.
func (e *Lines) step(dst []byte, run []mapping.Step) []byte {
	s := &run[0]
	switch s.Kind {
	case mapping.StepState:
		dst = appendOptional(rawjson.AppendField(e.open(dst, "event/state", s), "state", string(s.State)), "timestamp", s.Timestamp)
	case mapping.StepText:
		if s.ArtifactID != "" {
			dst = e.artifact(dst, s)
		} else {
			dst = rawjson.AppendField(e.open(dst, "event/text", s), "messageId", s.MessageID)
		}
		dst = append(dst, `,"text":`...)
		dst = appendText(dst, s)
		for i := range run[1:] {
			dst = joinText(dst, &run[1+i])
		}
	case mapping.StepThought:
		dst = appendFields(e.open(dst, "event/thought", s), "messageId", s.MessageID, "subject", s.Subject, "description", s.Description)
	case mapping.StepTool:
		dst = append(e.open(dst, "event/toolCall", s), `,"toolCall":`...)
		dst = appendShown(appendToolCall(dst, s.Tool, false), s.Tool)
	case mapping.StepPart:
		if s.ArtifactID != "" {
			dst = e.artifact(dst, s)
		} else {
			dst = rawjson.AppendField(e.open(dst, "event/message", s), "messageId", s.MessageID)
		}
		dst = append(dst, `,"part":`...)
		dst = append(dst, partJSON(s.Part)...)
	case mapping.StepConnection:
		dst = rawjson.AppendField(e.open(dst, "event/connection", s), "phase", string(s.Connection.Phase))
		if s.Connection.Attempt > 0 {
			dst = strconv.AppendInt(append(dst, `,"attempt":`...), int64(s.Connection.Attempt), 10)
		}
		if s.Connection.Silent > 0 {
			dst = strconv.AppendInt(append(dst, `,"seconds":`...), int64(s.Connection.Silent), 10)
		}
		dst = appendTrue(dst, "gap", s.Connection.Gap)
	case mapping.StepError:
		dst = rawjson.AppendField(e.open(dst, "event/error", s), "message", s.Text)
	case mapping.StepNotice:
		dst = rawjson.AppendField(e.open(dst, "event/notice", s), "message", s.Text)
	default:
		dst = e.open(dst, "event/unknown", s)
		if !e.Raw {
			dst = append(dst, `,"raw":`...)
			dst = rawjson.AppendValue(dst, string(s.Raw))
		}
	}
	dst = e.members(dst, s)
	return append(dst, "}}\n"...)
}

// members appends what any event may have beside what it says.
func (e *Lines) members(dst []byte, s *mapping.Step) []byte {
	dst = appendOptional(dst, "model", s.Model)
	dst = appendOptional(dst, "userTier", s.UserTier)
	dst = appendTrue(dst, "repeats", s.Repeats)
	dst = rawjson.AppendJSON(dst, "metadata", string(s.Metadata))
	if s.Own != (mapping.OwnMeta{}) {
		key := "messageMetadata"
		if s.ArtifactID != "" {
			key = "artifactMetadata"
		}
		dst = rawjson.AppendJSON(dst, key, string(s.Own.Metadata))
		if s.Part == nil { // which has its own
			dst = rawjson.AppendJSON(dst, "partMetadata", string(s.Own.Part))
		}
		dst = rawjson.AppendJSON(dst, "referenceTaskIds", string(s.Own.ReferenceTaskIDs))
		dst = rawjson.AppendJSON(dst, "extensions", string(s.Own.Extensions))
	}
	if e.Raw && s.Raw != "" {
		dst = append(dst, `,"raw":`...)
		dst = rawjson.AppendValue(dst, string(s.Raw))
	}
	return dst
}

// open appends the beginning of an event, and numbers it.
func (e *Lines) open(dst []byte, method string, s *mapping.Step) []byte {
	e.Seq++
	dst = append(dst, `{"jsonrpc":"2.0","method":"`...)
	dst = append(dst, method...)
	dst = append(dst, `","params":{"request":`...)
	if len(e.Request) == 0 {
		dst = append(dst, '1')
	}
	dst = append(dst, e.Request...)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendUint(dst, e.Seq, 10)
	return appendOptional(appendOptional(dst, "taskId", s.TaskID), "contextId", s.ContextID)
}

// artifact opens an event/artifact.
func (e *Lines) artifact(dst []byte, s *mapping.Step) []byte {
	dst = e.open(dst, "event/artifact", s)
	dst = rawjson.AppendField(dst, "artifactId", s.ArtifactID)
	dst = appendOptional(dst, "name", s.Name)
	if s.Description != "" && !s.Append {
		dst = rawjson.AppendField(dst, "description", s.Description)
	}
	dst = append(dst, `,"append":`...)
	dst = strconv.AppendBool(dst, s.Append)
	return appendTrue(dst, "lastChunk", s.LastChunk)
}

// appendShown appends what the user is to be shown of a call that asks: the lines that other
// editors show, too.
func appendShown(dst []byte, c *mapping.ToolCall) []byte {
	if c.Question() == nil {
		return dst
	}
	dst = append(dst, `,"shown":[`...)
	for _, l := range ask.Lines(c, mapping.NewQuestion(c).Options) {
		dst = rawjson.AppendString(append(comma(dst), `{"label":`...), l.Label)
		dst = append(appendOptional(dst, "text", l.Text), '}')
	}
	return append(dst, ']')
}

// partJSON spells a part as A2A 0.3 does.
func partJSON(p *a2a.Part) json.RawMessage {
	type file struct {
		Name     string `json:"name,omitempty"`
		MimeType string `json:"mimeType,omitempty"`
		Bytes    string `json:"bytes,omitempty"`
		URI      string `json:"uri,omitempty"`
	}
	part := struct {
		Kind     string          `json:"kind"`
		Text     *string         `json:"text,omitempty"`
		Data     json.RawMessage `json:"data,omitempty"`
		File     *file           `json:"file,omitempty"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
	}{Metadata: valueOf(p.Metadata)}
	switch p.Kind {
	case a2a.PartText:
		part.Kind, part.Text = "text", &p.Text
	case a2a.PartData:
		part.Kind, part.Data = "data", valueOf(p.Data)
	case a2a.PartFile:
		part.Kind, part.File = "file", &file{p.File.Name, p.File.MediaType, p.File.Bytes, p.File.URI}
	default:
		return valueOf(p.Raw)
	}
	raw, _ := rawjson.Marshal(part) // strings and valid JSON
	return raw
}

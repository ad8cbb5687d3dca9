package transport

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file writes the parameters of operations in all spellings: of A2A 0.3 over
// JSON-RPC (specification 0.3, §7), of 0.3 over HTTP+JSON, which is the JSON of its proto
// (package a2a.v1), and of 1.x (specification 1.0, §4 and §9). Nothing may be in them
// that is not declared: Python's servers refuse a message for it.

// A name is what the spellings call a member; "" leaves it out.
type name struct{ v03, proto, v1 string }

// same is a member that has one name.
func same(n string) name { return name{n, n, n} }

// The members that differ.
var (
	nameTenant     = name{v1: "tenant"}
	nameKind       = name{v03: "kind"}
	nameReferences = name{"referenceTaskIds", "", "referenceTaskIds"}
	nameParts      = name{"parts", "content", "parts"}
	nameFileName   = name{"name", "name", "filename"}
	nameMediaType  = name{"mimeType", "mimeType", "mediaType"}
	nameBytes      = name{"bytes", "fileWithBytes", "raw"}
	nameURI        = name{"uri", "fileWithUri", "url"}
	nameInlinePush = name{"pushNotificationConfig", "pushNotification", "taskPushNotificationConfig"}
	nameBlocking   = name{"blocking", "blocking", ""}
	nameAtOnce     = name{v1: "returnImmediately"}
	nameScheme     = name{v1: "scheme"}
	nameSchemes    = name{v03: "schemes", proto: "schemes"}
	nameOfTask     = name{"id", "id", "taskId"} // of whose push notifications
	namePushID     = name{"pushNotificationConfigId", "pushNotificationConfigId", "id"}
)

// A shape is an object in all spellings: its members in their order. Left out are those
// that a spelling has no name for, and those without a value; a pointer has one always.
type shape []member

type member struct {
	name  name
	value any
}

// A raw is JSON as it is passed on.
type raw string

// isNone reports whether a member is left out for its value.
func isNone(value any) bool {
	v := reflect.ValueOf(value)
	return !v.IsValid() || v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

// write appends a value in the version's spelling; nothing for what is no JSON. Shapes and texts are not
// left to encoding/json: it would copy a large file once for each object around it.
func (p protocol) write(b []byte, value any) []byte {
	begin := len(b) + 1
	switch v := value.(type) {
	case raw:
		return append(b, v...)
	case *string:
		return p.write(b, *v)
	case string:
		return append(rawjson.AppendEscaped(append(b, '"'), v), '"')
	case shape:
		b = append(b, '{')
		for _, m := range v {
			if word := m.name.in(p); word != "" && !isNone(m.value) {
				b = append(append(append(comma(b, begin), '"'), word...), `":`...)
				b = p.write(b, m.value)
			}
		}
		return append(b, '}')
	case []shape:
		b = append(b, '[')
		for _, one := range v {
			b = p.write(comma(b, begin), one)
		}
		return append(b, ']')
	}
	text, _ := rawjson.Marshal(value) // params finds what is missing then
	return append(b, text...)
}

// comma appends a comma if anything stands behind begin.
func comma(b []byte, begin int) []byte {
	if len(b) > begin {
		b = append(b, ',')
	}
	return b
}

// in is what a version calls the member.
func (n name) in(p protocol) string {
	switch {
	case p.proto:
		return n.proto
	case p.v03:
		return n.v03
	}
	return n.v1
}

// params returns the parameters of an operation; nil for none. It refuses what the
// version has no words for.
func (p protocol) params(op *operation) ([]byte, error) {
	if err := p.refuses(op); err != nil {
		return nil, err
	}
	s := shape{{nameTenant, p.tenant}}
	switch op.kind {
	case opMethod:
		return op.ownParams()
	case opSend, opStream:
		s = append(s, p.send(op)...)
	case opGet, opCancel, opSubscribe:
		s = append(s, member{same("id"), &op.taskID})
		if op.history >= 0 {
			s = append(s, member{same("historyLength"), &op.history})
		}
		s = append(s, member{same("metadata"), op.metadata})
	case opList:
		s = append(s, p.query(op.query)...)
	case opSetPush:
		s = append(s, p.setPush(op.push)...)
	case opGetPush, opListPush, opDeletePush:
		s = append(s, member{nameOfTask, &op.taskID}, member{namePushID, op.pushID})
	case opExtendedCard:
		if p.v03 {
			return nil, nil
		}
	}
	b := p.write(nil, s)
	if !rawjson.Valid(b) { // a caller's mistake, said before anything is sent
		return nil, failf(nil, "what is to be sent is not JSON: the metadata, or the data of a part")
	}
	return b, nil
}

// refuses returns an error for an operation that the version has no words for, or none has; else nil.
func (p protocol) refuses(op *operation) error {
	switch op.kind {
	case opSend, opStream:
		if op.message.ID == "" || len(op.message.Parts) == 0 {
			return failf(nil, "the message has no ID, or no parts")
		}
	case opGet, opCancel, opSubscribe:
		if len(op.metadata) > 0 && (p.proto || !p.v03 && op.kind != opCancel) {
			return failf(nil, "its version of A2A has no metadata in this request: leave it out")
		}
	case opList:
		state := op.query.State
		// In 1.x UNSPECIFIED is no state: it would mean tasks in any.
		if state != "" && !slices.Contains(a2a.States(), state) || state == a2a.StateUnknown && !p.v03 {
			return failf(nil, "tasks cannot be listed by the state %q, which A2A %s has not", state, p.name())
		}
	case opDeletePush:
		if op.pushID == "" { // some agents would take that for the task's ID
			return failf(nil, "which push notification configuration of task %s is to be deleted is not said", op.taskID)
		}
	}
	return nil
}

// ownParams returns the parameters of a method that the caller names; nil for none.
func (op *operation) ownParams() ([]byte, error) {
	if op.params == nil {
		return nil, nil
	}
	b, err := rawjson.Marshal(op.params)
	if err != nil {
		err = failf(err, "the parameters of %s are not JSON: %v", cmp.Or(op.method, op.path), err)
	}
	return b, err
}

// send returns the parameters of an operation that sends a message. In 0.3 opSend says in either case
// whether it waits: no default is named there. Its proto takes the absence of blocking for false where
// there is a configuration, and for true where there is none; 1.x waits unless it is told not to.
func (p protocol) send(op *operation) shape {
	m := op.message
	var parts []shape
	for i := range m.Parts {
		parts = append(parts, p.part(&m.Parts[i]))
	}
	message := shape{
		{nameKind, "message"},
		{same("messageId"), m.ID},
		{same("role"), name{"user", "ROLE_USER", "ROLE_USER"}.in(p)},
		{same("contextId"), m.ContextID},
		{same("taskId"), m.TaskID},
		// 0.3's proto has no references; the agent finds these tasks by the context.
		{nameReferences, m.ReferenceTaskIDs},
		{nameParts, parts},
		{same("metadata"), m.Metadata},
		{same("extensions"), m.Extensions},
	}
	sends := op.kind == opSend
	atOnce := !p.v03 && sends && !op.blocking
	var configuration shape
	if len(m.AcceptedOutputModes) > 0 || m.Push != nil || m.HistoryLength != nil || atOnce || p.v03 && sends {
		var modes, blocking any = m.AcceptedOutputModes, nil
		if isNone(modes) && p.v03 && !p.proto {
			modes = raw("[]") // A2A 0.2 requires it, and Pydantic AI's server insists
		}
		if sends || p.proto {
			blocking = raw(strconv.FormatBool(!sends || op.blocking))
		}
		var push shape
		if m.Push != nil {
			push = pushShape(m.Push, m.Push.ID, "")
		}
		configuration = shape{
			{same("acceptedOutputModes"), modes},
			{nameBlocking, blocking},
			{nameAtOnce, atOnce},
			{nameInlinePush, push},
			{same("historyLength"), m.HistoryLength},
		}
	}
	return shape{{same("message"), message}, {same("configuration"), configuration}, {same("metadata"), m.RequestMetadata}}
}

func (p protocol) part(part *a2a.OutPart) shape {
	var s shape
	metadata := strings.TrimSpace(string(part.Metadata))
	switch data, f := strings.TrimSpace(string(part.Data)), part.File; {
	case f != nil:
		content := member{nameBytes, &f.Bytes} // an empty file has bytes, none
		if f.URI != "" {
			content = member{nameURI, f.URI}
		}
		named := shape{{nameFileName, f.Name}, {nameMediaType, f.MediaType}}
		if s = append(shape{content}, named...); p.v03 {
			s = shape{{nameKind, "file"}, {same("file"), append(named, content)}}
		}
	case part.Data != nil:
		if p.v03 && !rawjson.IsObject(data) {
			// 0.3 has objects only; this is how the SDKs carry the rest (parts.go).
			data = `{"value":` + data + `}`
			metadata = marked(metadata)
		}
		if p.proto {
			data = `{"data":` + data + `}`
		}
		s = shape{{nameKind, "data"}, {same("data"), raw(data)}}
		if !p.v03 {
			s = append(s, member{nameMediaType, part.MediaType})
		}
	default:
		s = shape{{nameKind, "text"}, {same("text"), &part.Text}}
	}
	return append(s, member{same("metadata"), raw(metadata)})
}

// marked returns metadata, an object or nothing, with the [compatMarker].
func marked(metadata string) string {
	marker := `{"` + compatMarker + `":true`
	if inner := strings.TrimSpace(strings.TrimPrefix(metadata, "{")); inner != "" && inner != "}" {
		return marker + "," + inner
	}
	return marker + "}"
}

// query returns the parameters that say which tasks to list. No specification of 0.3 has that. Two
// servers have it all the same: a2a-go 0.3.15, which wants its parameters in snake_case,
// and Mastra, which has 1.x's names. Each passes over the other's, and other agents of
// 0.3 do not mind.
func (p protocol) query(q *a2a.TaskQuery) (s shape) {
	both := func(camel, snake string, value any) {
		s = append(s, member{same(camel), value}, member{name{v03: snake}, value})
	}
	both("contextId", "context_id", q.ContextID)
	s = append(s, member{same("status"), p.state(q.State)})
	if q.PageSize != 0 {
		both("pageSize", "page_size", &q.PageSize)
	}
	both("pageToken", "page_token", q.PageToken)
	both("historyLength", "history_length", q.HistoryLength)
	both("includeArtifacts", "include_artifacts", q.IncludeArtifacts)
	return append(s, member{name{v03: "lastUpdatedAfter", proto: "lastUpdatedAfter"}, q.StatusAfter}, member{same("statusTimestampAfter"), q.StatusAfter})
}

// state spells a state; "" for none. 0.3's proto has cancelled with two l.
func (p protocol) state(s a2a.State) string {
	switch {
	case s == "", p.v03 && !p.proto, s == a2a.StateUnknown:
		return string(s)
	case p.proto && s == a2a.StateCanceled:
		return "TASK_STATE_CANCELLED"
	}
	return "TASK_STATE_" + strings.ReplaceAll(strings.ToUpper(string(s)), "-", "_")
}

// setPush returns the parameters that make a push notification configuration. 0.3's proto wants it named,
// and in a wrapper that the SDKs for Go, JavaScript (0.3) and Python have; what has no ID gets the
// task's, as servers do.
func (p protocol) setPush(c *a2a.PushConfig) shape {
	inner := same("pushNotificationConfig")
	switch id := cmp.Or(c.ID, c.TaskID); {
	case !p.v03:
		return pushShape(c, c.ID, c.TaskID)
	case !p.proto:
		return shape{{same("taskId"), &c.TaskID}, {inner, pushShape(c, c.ID, "")}}
	default:
		return shape{
			{same("taskId"), &c.TaskID},
			{same("parent"), pushName(c.TaskID, "")},
			{same("configId"), &id},
			{same("config"), shape{{same("name"), pushName(c.TaskID, id)}, {inner, pushShape(c, id, "")}}},
		}
	}
}

// pushShape is a push notification configuration. id and taskID may be "".
func pushShape(c *a2a.PushConfig, id, taskID string) shape {
	s := shape{
		{same("id"), id},
		{same("taskId"), taskID},
		{same("url"), &c.URL},
		{same("token"), c.Token},
	}
	if a := c.Authentication; a != nil {
		s = append(s, member{same("authentication"), shape{
			{nameScheme, &a.Scheme},
			{nameSchemes, []string{a.Scheme}},
			{same("credentials"), a.Credentials},
		}})
	}
	return s
}

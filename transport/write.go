package transport

import (
	"encoding/json"
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

// A writer appends objects in one spelling.
type writer struct {
	p     protocol
	b     []byte
	begun bool // the object has a member
}

// member begins a member; false: the spelling has none of that name.
func (w *writer) member(n name) bool {
	word := n.v1
	switch {
	case w.p.proto:
		word = n.proto
	case w.p.v03:
		word = n.v03
	}
	if word == "" {
		return false
	}
	if w.begun {
		w.b = append(w.b, ',')
	}
	w.begun = true
	w.b = append(append(append(w.b, '"'), word...), `":`...)
	return true
}

func (w *writer) open() { w.b, w.begun = append(w.b, '{'), false }

func (w *writer) close() { w.b, w.begun = append(w.b, '}'), true }

// object writes a member that is an object.
func (w *writer) object(n name, write func()) {
	if w.member(n) {
		w.open()
		write()
		w.close()
	}
}

func (w *writer) value(n name, json string) {
	if w.member(n) {
		w.b = append(w.b, json...)
	}
}

func (w *writer) quote(s string) {
	w.b = append(rawjson.AppendEscaped(append(w.b, '"'), s), '"')
}

// text writes a string, also an empty one.
func (w *writer) text(n name, s string) {
	if w.member(n) {
		w.quote(s)
	}
}

// The next ones leave out what is empty.

func (w *writer) some(n name, s string) {
	if s != "" {
		w.text(n, s)
	}
}

func (w *writer) list(n name, list []string) {
	if len(list) == 0 || !w.member(n) {
		return
	}
	w.b = append(w.b, '[')
	for i, s := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.quote(s)
	}
	w.b = append(w.b, ']')
}

func (w *writer) count(n name, i *int) {
	if i != nil {
		w.value(n, strconv.Itoa(*i))
	}
}

func (w *writer) yes(n name, is bool) {
	if is {
		w.value(n, "true")
	}
}

func (w *writer) metadata(m map[string]json.RawMessage) {
	if len(m) > 0 {
		text, _ := rawjson.Marshal(m) // "" for what is no JSON: see params
		w.value(same("metadata"), string(text))
	}
}

// params returns the parameters of an operation; nil for none. It refuses what the
// version has no words for.
func (p protocol) params(c *operation) (params []byte, err error) {
	w := &writer{p: p}
	w.open()
	w.some(nameTenant, p.tenant)
	switch c.kind {
	case opSend, opStream:
		if c.message.ID == "" || len(c.message.Parts) == 0 {
			return nil, failf(nil, "the message has no ID, or no parts")
		}
		w.send(c)
	case opGet, opCancel, opSubscribe:
		w.text(same("id"), c.taskID)
		if c.history >= 0 {
			w.count(same("historyLength"), &c.history)
		}
		if w.metadata(c.metadata); len(c.metadata) > 0 && (p.proto || !p.v03 && c.kind != opCancel) {
			return nil, failf(nil, "its version of A2A has no metadata in this request: leave it out")
		}
	case opList:
		err = w.query(c.query)
	case opSetPush:
		w.setPush(c.push)
	case opGetPush, opListPush, opDeletePush:
		w.text(nameOfTask, c.taskID)
		w.some(namePushID, c.pushID)
	case opExtendedCard:
		if p.v03 {
			return nil, nil
		}
	}
	if w.close(); err == nil && !rawjson.Valid(w.b) { // a caller's mistake, said before anything is sent
		err = failf(nil, "what is to be sent is not JSON: the metadata, or the data of a part")
	}
	return w.b, err
}

// send writes a message. In 0.3 opSend says in either case whether it waits: no default
// is named there. Its proto takes the absence of blocking for false where there is a
// configuration, and for true where there is none; 1.x waits unless it is told not to.
func (w *writer) send(c *operation) {
	m := c.message
	w.object(same("message"), func() {
		w.text(nameKind, "message")
		w.text(same("messageId"), m.ID)
		w.text(same("role"), w.p.user())
		w.some(same("contextId"), m.ContextID)
		w.some(same("taskId"), m.TaskID)
		// 0.3's proto has no references; the agent finds these tasks by the context.
		w.list(nameReferences, m.ReferenceTaskIDs)
		if w.member(nameParts) {
			w.parts(m.Parts)
		}
		w.metadata(m.Metadata)
		w.list(same("extensions"), m.Extensions)
	})
	sends := c.kind == opSend
	atOnce := !w.p.v03 && sends && !c.blocking
	if len(m.AcceptedOutputModes) > 0 || m.Push != nil || m.HistoryLength != nil || atOnce || w.p.v03 && sends {
		w.object(same("configuration"), func() {
			w.list(same("acceptedOutputModes"), m.AcceptedOutputModes)
			if len(m.AcceptedOutputModes) == 0 && w.p.v03 && !w.p.proto {
				w.value(same("acceptedOutputModes"), "[]") // A2A 0.2 requires it, and Pydantic AI's server insists
			}
			if sends || w.p.proto {
				w.value(nameBlocking, strconv.FormatBool(!sends || c.blocking))
			}
			w.yes(nameAtOnce, atOnce)
			if m.Push != nil {
				w.object(nameInlinePush, func() { w.push(m.Push, m.Push.ID, "") })
			}
			w.count(same("historyLength"), m.HistoryLength)
		})
	}
	w.metadata(m.RequestMetadata)
}

// user is the role of who writes to an agent.
func (p protocol) user() string {
	if p.v03 && !p.proto {
		return string(a2a.RoleUser)
	}
	return "ROLE_USER"
}

func (w *writer) parts(list []a2a.OutPart) {
	w.b = append(w.b, '[')
	for i := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.open()
		w.part(&list[i])
		w.close()
	}
	w.b = append(w.b, ']')
}

func (w *writer) part(p *a2a.OutPart) {
	metadata := strings.TrimSpace(string(p.Metadata))
	switch data := strings.TrimSpace(string(p.Data)); {
	case p.File != nil && w.p.v03:
		w.text(nameKind, "file")
		w.object(same("file"), func() {
			w.fileName(p.File)
			w.content(p.File)
		})
	case p.File != nil:
		w.content(p.File)
		w.fileName(p.File)
	case p.Data != nil:
		w.text(nameKind, "data")
		if w.p.v03 && !rawjson.IsObject(data) {
			// 0.3 has objects only; this is how the SDKs carry the rest (parts.go).
			data = `{"value":` + data + `}`
			metadata = marked(metadata)
		}
		if w.p.proto {
			data = `{"data":` + data + `}`
		}
		w.value(same("data"), data)
	default:
		w.text(nameKind, "text")
		w.text(same("text"), p.Text)
	}
	if metadata != "" {
		w.value(same("metadata"), metadata)
	}
}

// marked adds the marker to metadata, an object or nothing.
func marked(metadata string) string {
	marker := `{"` + compatMarker + `":true`
	if inner := strings.TrimSpace(strings.TrimPrefix(metadata, "{")); inner != "" && inner != "}" {
		return marker + "," + inner
	}
	return marker + "}"
}

func (w *writer) fileName(f *a2a.File) {
	w.some(nameFileName, f.Name)
	w.some(nameMediaType, f.MediaType)
}

func (w *writer) content(f *a2a.File) {
	switch {
	case f.URI != "":
		w.text(nameURI, f.URI)
	default: // an empty file has bytes, none
		w.text(nameBytes, f.Bytes)
	}
}

// query writes which tasks are to be listed. No specification of 0.3 has that. Two
// servers have it all the same: a2a-go 0.3.15, which wants its parameters in snake_case,
// and Mastra, which has 1.x's names. Each passes over the other's, and other agents of
// 0.3 do not mind.
func (w *writer) query(q *a2a.TaskQuery) error {
	if q.State == a2a.StateUnknown && !w.p.v03 {
		// UNSPECIFIED is no state there: it would mean tasks in any.
		return failf(nil, "tasks cannot be listed by the state %q in A2A 1.x, which has no such state", q.State)
	}
	both := func(camel, snake string, write func(n name)) {
		write(same(camel))
		write(name{v03: snake})
	}
	both("contextId", "context_id", func(n name) { w.some(n, q.ContextID) })
	w.some(same("status"), w.p.state(q.State))
	both("pageSize", "page_size", func(n name) {
		if q.PageSize != 0 {
			w.count(n, &q.PageSize)
		}
	})
	both("pageToken", "page_token", func(n name) { w.some(n, q.PageToken) })
	both("historyLength", "history_length", func(n name) { w.count(n, q.HistoryLength) })
	both("includeArtifacts", "include_artifacts", func(n name) { w.yes(n, q.IncludeArtifacts) })
	w.some(name{v03: "lastUpdatedAfter", proto: "lastUpdatedAfter"}, q.StatusAfter)
	w.some(same("statusTimestampAfter"), q.StatusAfter)
	return nil
}

// state spells a state; none is none. 0.3's proto has cancelled with two l.
func (p protocol) state(s a2a.State) string {
	switch {
	case s == "", p.v03 && !p.proto, s == a2a.StateUnknown:
		return string(s)
	case p.proto && s == a2a.StateCanceled:
		return "TASK_STATE_CANCELLED"
	}
	return "TASK_STATE_" + strings.ReplaceAll(strings.ToUpper(string(s)), "-", "_")
}

// setPush writes a new configuration. 0.3's proto wants it named, and in a wrapper that
// the SDKs for Go, JavaScript (0.3) and Python have; what has no ID gets the task's, as
// servers do.
func (w *writer) setPush(c *a2a.PushConfig) {
	id, inner := c.ID, same("pushNotificationConfig")
	if !w.p.v03 {
		w.push(c, id, c.TaskID)
		return
	}
	w.text(same("taskId"), c.TaskID)
	if !w.p.proto {
		w.object(inner, func() { w.push(c, id, "") })
		return
	}
	if id == "" {
		id = c.TaskID
	}
	w.text(same("parent"), pushName(c.TaskID, ""))
	w.text(same("configId"), id)
	w.object(same("config"), func() {
		w.text(same("name"), pushName(c.TaskID, id))
		w.object(inner, func() { w.push(c, id, "") })
	})
}

// push writes the members of a configuration.
func (w *writer) push(c *a2a.PushConfig, id, taskID string) {
	w.some(same("id"), id)
	w.some(same("taskId"), taskID)
	w.text(same("url"), c.URL)
	w.some(same("token"), c.Token)
	if a := c.Authentication; a != nil {
		w.object(same("authentication"), func() {
			w.text(nameScheme, a.Scheme)
			w.list(nameSchemes, []string{a.Scheme})
			w.some(same("credentials"), a.Credentials)
		})
	}
}

package transport

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// httpV03 is HTTP+JSON of A2A 0.3 (specification 0.3, §3.2.3 and §3.5.3): paths begin
// with /v1, and the JSON is that of its proto, which has other names and shapes than
// its JSON-RPC. Both directions are converted here, so that the rest of the program
// sees JSON-RPC's form alone.
type httpV03 struct{}

var _ httpVersion = httpV03{}

func (httpV03) route(kind opKind, other bool) route {
	const task, configs = "/v1/tasks/{id}", "/pushNotificationConfigs"
	if kind == opSubscribe && other { // GET in the proto, POST in the specification's text
		return route{verb: http.MethodPost, path: task + ":subscribe"}
	}
	return [...]route{
		opSend:         {http.MethodPost, "/v1/message:send", true},
		opStream:       {http.MethodPost, "/v1/message:stream", true},
		opGet:          {http.MethodGet, task, false},
		opList:         {http.MethodGet, "/v1/tasks", false},
		opCancel:       {http.MethodPost, task + ":cancel", true},
		opSubscribe:    {http.MethodGet, task + ":subscribe", false},
		opSetPush:      {http.MethodPost, "/v1/tasks/{taskId}" + configs, true},
		opGetPush:      {http.MethodGet, task + configs + "/{pushNotificationConfigId}", false},
		opListPush:     {http.MethodGet, task + configs, false},
		opDeletePush:   {http.MethodDelete, task + configs + "/{pushNotificationConfigId}", false},
		opExtendedCard: {http.MethodGet, "/v1/card", false},
	}[kind]
}

// again: older servers of the JavaScript SDK take GET …:subscribe for a task of that
// name, and answer that it does not exist. The body of a new push notification
// configuration has two forms, and a server that knows the other answers 400; so does
// a2a-go to the bytes of a file that are not in base64 twice.
func (httpV03) again(c *operation, status int, refusal *a2a.Error) bool {
	switch c.as {
	case opSubscribe:
		return noRoute(status)
	case opSetPush:
		return status == http.StatusBadRequest && (refusal == nil || refusal.Code == a2a.CodeInvalidParams)
	case opSend, opStream:
		return c.hasFiles && status == http.StatusBadRequest && refusal != nil &&
			(refusal.Code == a2a.CodeParse || refusal.Code == a2a.CodeInvalidParams)
	}
	return false
}

func (httpV03) outgoing(kind opKind, c *operation, params members, other bool) members {
	switch kind {
	case opSend, opStream:
		return sendToProto(c, params, other)
	case opGet:
		if params.get("historyLength") == "0" {
			// Some agents take 0 for all: one message is asked for, and incoming
			// removes it.
			return append(params.without("historyLength"), param{"historyLength", "1"})
		}
	case opList:
		return listToProto(params)
	case opListPush:
		if c.pageToken != "" {
			return append(params, param{"pageToken", quoted(c.pageToken)})
		}
	case opSetPush:
		return pushToProto(c, params, other)
	}
	return params
}

func (httpV03) incoming(kind opKind, c *operation, raw string) string {
	if !rawjson.IsObject(raw) {
		return raw
	}
	switch kind {
	case opSend, opStream, opSubscribe, opGet, opCancel:
		dropHistory := kind == opGet && c.kind == opGet && c.history == 0
		return rawjson.View(eventFromProto(make([]byte, 0, len(raw)+64), raw, dropHistory))
	case opList:
		return rawjson.View(listFromProto(nil, raw))
	case opSetPush, opGetPush:
		return rawjson.View(pushFromProto(nil, raw))
	case opListPush:
		return rawjson.View(object(nil, raw, "", func(key string) (string, change) {
			return key, each(pushFromProto)
		}))
	}
	return raw
}

// listToProto leaves out the names that a2a-go's JSON-RPC wants beside 0.3's own,
// and spells the state as the proto does.
func listToProto(params members) (query members) {
	for _, m := range params {
		switch {
		case strings.Contains(m.key, "_"):
		case m.key == "status":
			query = append(query, param{m.key, stateToProto(m.value)})
		default:
			query = append(query, m)
		}
	}
	return query
}

// stateToProto spells a state as the proto does, cancelled with two l.
func stateToProto(raw string) string {
	switch state := a2a.State(jsonText(raw)); state {
	case "", a2a.StateUnknown:
		return raw
	case a2a.StateCanceled:
		return `"TASK_STATE_CANCELLED"`
	default:
		return strconv.Quote(v1State(state))
	}
}

// pushToProto makes the request for a new configuration of what has a task's ID and
// the configuration: wrapped as the SDKs for Go, JavaScript (0.3) and Python want it,
// or bare, as the proto's annotation and that for JavaScript (1.x) have it. The proto
// wants an ID; what has none gets the task's, as servers do.
func pushToProto(c *operation, params members, bare bool) members {
	config := readMembers(params.get("pushNotificationConfig"))
	id := config.text("id")
	if id == "" {
		id = c.pathID
		config = append(config.without("id"), param{"id", quoted(id)})
	}
	parent := "tasks/" + c.pathID
	inner := members{
		{"name", quoted(parent + "/pushNotificationConfigs/" + id)},
		{"pushNotificationConfig", string(config.object(nil))},
	}
	if bare {
		return inner
	}
	return members{{"parent", quoted(parent)}, {"configId", quoted(id)}, {"config", string(inner.object(nil))}}
}

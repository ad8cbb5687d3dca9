package transport

import (
	"net/http"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// httpV1 is HTTP+JSON of A2A 1.x (specification 1.0, §11). Its shapes are those of
// the version; a tenant is the first segment of each path, and with POST it is in
// the body as well.
type httpV1 struct{}

var _ httpVersion = httpV1{}

func (httpV1) route(kind opKind, other bool) route {
	const task, configs = "/tasks/{id}", "/tasks/{taskId}/pushNotificationConfigs"
	if kind == opSubscribe && other {
		// POST in the specification's text, GET in its proto. Some servers take only
		// the one, some only the other.
		return route{verb: http.MethodGet, path: task + ":subscribe"}
	}
	return [...]route{
		opSend:         {http.MethodPost, "/message:send", true},
		opStream:       {http.MethodPost, "/message:stream", true},
		opGet:          {http.MethodGet, task, false},
		opList:         {http.MethodGet, "/tasks", false},
		opCancel:       {http.MethodPost, task + ":cancel", true},
		opSubscribe:    {http.MethodPost, task + ":subscribe", false},
		opSetPush:      {http.MethodPost, configs, true},
		opGetPush:      {http.MethodGet, configs + "/{id}", false},
		opListPush:     {http.MethodGet, configs, false},
		opDeletePush:   {http.MethodDelete, configs + "/{id}", false},
		opExtendedCard: {http.MethodGet, "/extendedAgentCard", false},
	}[kind]
}

func (httpV1) outgoing(_ opKind, _ *operation, params members, _ bool) members { return params }

func (httpV1) incoming(_ opKind, _ *operation, raw string) string { return raw }

func (httpV1) again(c *operation, status int, refusal *a2a.Error) bool {
	return c.as == opSubscribe && noRoute(status) && (refusal == nil || refusal.Code == a2a.CodeMethodNotFound)
}

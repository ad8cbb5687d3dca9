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

func (httpV1) route(op opKind, other bool) route {
	const task, configs = "/tasks/{id}", "/tasks/{taskId}/pushNotificationConfigs"
	switch op {
	case opSend:
		return route{http.MethodPost, "/message:send", true}
	case opStream:
		return route{http.MethodPost, "/message:stream", true}
	case opGet:
		return route{verb: http.MethodGet, path: task}
	case opList:
		return route{verb: http.MethodGet, path: "/tasks"}
	case opCancel:
		return route{http.MethodPost, task + ":cancel", true}
	case opSubscribe:
		// POST in the specification's text, GET in its proto. Some servers take only
		// the one, some only the other.
		if other {
			return route{verb: http.MethodGet, path: task + ":subscribe"}
		}
		return route{verb: http.MethodPost, path: task + ":subscribe"}
	case opSetPush:
		return route{http.MethodPost, configs, true}
	case opGetPush:
		return route{verb: http.MethodGet, path: configs + "/{id}"}
	case opListPush:
		return route{verb: http.MethodGet, path: configs}
	case opDeletePush:
		return route{verb: http.MethodDelete, path: configs + "/{id}"}
	case opExtendedCard:
		return route{verb: http.MethodGet, path: "/extendedAgentCard"}
	}
	return route{}
}

func (httpV1) outgoing(_ opKind, _ *operation, params members, _ bool) members { return params }

func (httpV1) incoming(_ opKind, _ *operation, raw string) string { return raw }

func (httpV1) again(c *operation, status int, refusal *a2a.Error) bool {
	return c.as == opSubscribe && noRoute(status) && refusal == nil
}

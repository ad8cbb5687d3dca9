package transport

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file converts events from the JSON of A2A 0.3's proto into that of its JSON-RPC:
// see binding_httpjson_v03_proto.go.

// eventFromProto unwraps a payload and adds its kind. A payload that has a kind is left
// alone.
func eventFromProto(dst []byte, raw string, dropHistory bool) []byte {
	kind, inner := payloadOf(raw)
	switch kind {
	case "task":
		return taskFromProto(dst, inner, dropHistory)
	case "message":
		return messageFromProto(dst, inner)
	case "statusUpdate":
		return object(dst, inner, `"kind":"status-update"`, only("status", asObject(statusFromProto)))
	case "artifactUpdate":
		return object(dst, inner, `"kind":"artifact-update"`, only("artifact", asObject(artifactFromProto)))
	}
	return append(dst, raw...)
}

// payloadOf finds the payload in an object, and the name of the wrapper that it has or,
// by its members, should have; "" if it names its kind itself, or is unknown.
func payloadOf(raw string) (wrapper, inner string) {
	var has struct{ kind, id, task, status, artifact, content bool }
	rawjson.EachMember(raw, func(key, value string) bool {
		is := rawjson.IsObject(value)
		switch key {
		case "kind":
			has.kind = true
		case "task", "message", "statusUpdate", "artifactUpdate":
			if is {
				wrapper, inner = key, value
			}
		case "id":
			has.id = true
		case "taskId":
			has.task = true
		case "status":
			has.status = is
		case "artifact":
			has.artifact = is
		case "content":
			has.content = rawjson.IsArray(value)
		}
		return true
	})
	switch {
	case has.kind:
		return "", ""
	case wrapper != "":
		return wrapper, inner
	case has.artifact && has.task:
		return "artifactUpdate", raw
	case has.status && has.task:
		return "statusUpdate", raw
	case has.status && has.id:
		return "task", raw
	case has.content:
		return "message", raw
	}
	return "", ""
}

func taskFromProto(dst []byte, raw string, dropHistory bool) []byte {
	return object(dst, raw, `"kind":"task"`, func(key string) (string, change) {
		switch key {
		case "status":
			return key, asObject(statusFromProto)
		case "artifacts":
			return key, each(artifactFromProto)
		case "history":
			if dropHistory {
				return "", nil
			}
			return key, each(messageFromProto)
		}
		return key, nil
	})
}

func statusFromProto(dst []byte, raw string) []byte {
	return object(dst, raw, "", func(key string) (string, change) {
		switch key {
		case "state":
			return key, stateFromProto
		case "message", "update": // its JSON name, and its own
			return "message", asObject(messageFromProto)
		}
		return key, nil
	})
}

func stateFromProto(dst []byte, raw string) []byte {
	if state := readState(raw); state != a2a.StateUnknown {
		return strconv.AppendQuote(dst, string(state))
	}
	return append(dst, raw...)
}

func messageFromProto(dst []byte, raw string) []byte {
	return object(dst, raw, `"kind":"message"`, func(key string) (string, change) {
		switch key {
		case "content":
			return "parts", each(partFromProto)
		case "role":
			return key, roleFromProto
		}
		return key, nil
	})
}

func roleFromProto(dst []byte, raw string) []byte {
	switch role := readRole(raw); role {
	case a2a.RoleUser, a2a.RoleAgent:
		return strconv.AppendQuote(dst, string(role))
	}
	return append(dst, raw...)
}

func artifactFromProto(dst []byte, raw string) []byte {
	return object(dst, raw, "", only("parts", each(partFromProto)))
}

// partFromProto says the kind of a part, and takes data out of their second wrapper.
func partFromProto(dst []byte, raw string) []byte {
	kind := ""
	for _, k := range []string{"text", "file", "data"} {
		if v := rawjson.Member(raw, k); v != "" && v != "null" {
			kind = k
			break
		}
	}
	if kind == "" || rawjson.Member(raw, "kind") != "" {
		return append(dst, raw...)
	}
	return object(dst, raw, `"kind":"`+kind+`"`, func(key string) (string, change) {
		switch key {
		case "file":
			return key, asObject(fileFromProto)
		case "data":
			return key, func(dst []byte, raw string) []byte {
				if inner := rawjson.Member(raw, "data"); rawjson.IsObject(raw) && inner != "" {
					raw = inner
				}
				return append(dst, raw...)
			}
		}
		return key, nil
	})
}

func fileFromProto(dst []byte, raw string) []byte {
	return object(dst, raw, "", func(key string) (string, change) {
		switch key {
		case "fileWithBytes":
			return "bytes", bytesFromProto(jsonText(rawjson.Member(raw, "mimeType")))
		case "fileWithUri":
			return "uri", nil
		case "mediaType": // of later protos
			return "mimeType", nil
		}
		return key, nil
	})
}

// bytesFromProto takes base64 off bytes that have it twice: the SDKs for Python and Go
// encode what they hold in base64 already. Bytes that happen to look like base64 are
// short, or text, and do not decode to base64 again.
func bytesFromProto(mediaType string) change {
	return func(dst []byte, raw string) []byte {
		outer := jsonText(raw)
		const sample = 64 // of base64, which 48 bytes are; bytes of another kind show by then
		if start, err := base64.StdEncoding.DecodeString(outer[:min(len(outer), sample)]); err != nil || !isBase64(start, len(outer) <= sample) {
			return append(dst, raw...)
		}
		inner, err := base64.StdEncoding.DecodeString(outer)
		if err != nil || len(inner) == 0 || !isBase64(inner, true) {
			return append(dst, raw...)
		}
		if strings.HasPrefix(mediaType, "text/") {
			if text, err := base64.StdEncoding.DecodeString(string(inner)); err != nil || !utf8.Valid(text) {
				return append(dst, raw...)
			}
		}
		return append(append(append(dst, '"'), inner...), '"')
	}
}

// isBase64 reports whether text may be base64; whole: it is all of it.
func isBase64(text []byte, whole bool) bool {
	if whole {
		if len(text)%4 != 0 {
			return false
		}
		text = bytes.TrimRight(text, "=")
	}
	for _, b := range text {
		if !('A' <= b && b <= 'Z' || 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || b == '+' || b == '/') {
			return false
		}
	}
	return true
}

func listFromProto(dst []byte, raw string) []byte {
	task := func(dst []byte, raw string) []byte { return taskFromProto(dst, raw, false) }
	return object(dst, raw, "", only("tasks", each(task)))
}

// pushFromProto adds the task's ID to a configuration, and the configuration's own ID
// where only its name holds it: tasks/T/pushNotificationConfigs/C.
func pushFromProto(dst []byte, raw string) []byte {
	name := strings.Split(jsonText(rawjson.Member(raw, "name")), "/")
	if len(name) != 4 {
		return append(dst, raw...)
	}
	return object(dst, raw, `"taskId":`+quoted(name[1]), func(key string) (string, change) {
		switch key {
		case "name":
			return "", nil
		case "pushNotificationConfig":
			return key, func(dst []byte, raw string) []byte {
				head := ""
				if jsonText(rawjson.Member(raw, "id")) == "" {
					head = `"id":` + quoted(name[3])
				}
				return object(dst, raw, head, func(key string) (string, change) {
					if head != "" && key == "id" {
						return "", nil
					}
					return key, nil
				})
			}
		}
		return key, nil
	})
}

package transport

import (
	"cmp"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// ReadPushed reads what an agent has pushed to a webhook: a Task, or an event, as 0.3
// writes it, or a StreamResponse of 1.x, whatever version the agent was spoken to in
// (a2a-go pushes 1.x's to those who asked in 0.3). The event is a view of payload.
func ReadPushed(payload []byte) *a2a.Event {
	ev := new(a2a.Event)
	raw := strings.TrimSpace(rawjson.View(payload))
	wrapped := false
	rawjson.EachMember(raw, func(key, value string) bool {
		switch key {
		case "task", "message", "statusUpdate", "artifactUpdate":
			wrapped = rawjson.IsObject(value)
		}
		return !wrapped
	})
	if wrapped {
		protocol{}.decode(raw, ev)
	} else {
		protocol{v03: true}.decode(raw, ev)
	}
	return ev
}

// readPush reads a configuration: 0.3 nests it beside the task's ID, or in its proto
// beside a name that holds both IDs; 1.x is flat. taskID is the task's if it does not
// say. What it returns is views of raw.
func readPush(raw, taskID string) (config a2a.PushConfig, ok bool) {
	config.TaskID = taskID
	var read func(raw string)
	read = func(raw string) {
		rawjson.EachMember(raw, func(key, value string) bool {
			switch key {
			case "taskId":
				if id := jsonText(value); id != "" {
					config.TaskID = id
				}
			case "pushNotificationConfig":
				read(value)
			case "name": // tasks/T/pushNotificationConfigs/C
				if name := strings.Split(jsonText(value), "/"); len(name) == 4 {
					config.TaskID, config.ID = name[1], cmp.Or(config.ID, name[3])
				}
			case "id":
				config.ID = cmp.Or(jsonText(value), config.ID)
			case "url":
				config.URL, ok = jsonText(value), true
			case "token":
				config.Token = jsonText(value)
			case "authentication":
				config.Authentication = readPushAuthentication(value)
			}
			return true
		})
	}
	read(raw)
	return config, ok
}

func readPushAuthentication(raw string) *a2a.PushAuthentication {
	if !rawjson.IsObject(raw) {
		return nil
	}
	a := new(a2a.PushAuthentication)
	rawjson.EachMember(raw, func(key, value string) bool {
		switch key {
		case "scheme":
			if scheme := jsonText(value); scheme != "" {
				a.Schemes = append(a.Schemes, scheme)
			}
		case "schemes":
			rawjson.EachElement(value, func(scheme string) bool {
				a.Schemes = append(a.Schemes, jsonText(scheme))
				return true
			})
		case "credentials":
			a.Credentials = jsonText(value)
		}
		return true
	})
	return a
}

// readPushList reads a list: 0.3's is an array, 1.x's is in an object, which
// proto-JSON leaves empty if there are none.
func readPushList(raw, taskID string) (list []a2a.PushConfig, next string, ok bool) {
	configs := func(raw string) {
		rawjson.EachElement(raw, func(value string) bool {
			if config, is := readPush(value, taskID); is {
				list = append(list, config)
			}
			return true
		})
	}
	switch raw = strings.TrimSpace(raw); {
	case rawjson.IsArray(raw):
		configs(raw)
	case rawjson.IsObject(raw):
		rawjson.EachMember(raw, func(key, value string) bool {
			switch key {
			case "configs":
				configs(value)
			case "nextPageToken":
				next = jsonText(value)
			}
			return true
		})
	default:
		// No list is an empty one to some, as a slice in Go is.
		return nil, "", raw == "null"
	}
	return list, next, true
}

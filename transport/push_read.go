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
// say. What it returns is views of what was read.
func readPush(n node, taskID string) (config a2a.PushConfig, ok bool) {
	c := n
	if inner := n.at("pushNotificationConfig"); inner.IsObject() {
		c = inner
	}
	config = a2a.PushConfig{TaskID: cmp.Or(n.id("taskId"), taskID), ID: c.id("id"), URL: c.id("url"), Token: c.id("token")}
	if name := strings.Split(n.text("name"), "/"); len(name) == 4 { // tasks/T/pushNotificationConfigs/C
		config.TaskID, config.ID = name[1], cmp.Or(config.ID, name[3])
	}
	if a := c.at("authentication"); a.IsObject() {
		config.Authentication = &a2a.PushAuthentication{Schemes: a.texts("schemes"), Credentials: a.text("credentials")}
		if scheme := a.text("scheme"); scheme != "" {
			config.Authentication.Schemes = append(config.Authentication.Schemes, scheme)
		}
	}
	return config, c.at("url").Exists()
}

// readPushList reads a list: 0.3's is an array, 1.x's is in an object, which
// proto-JSON leaves empty if there are none.
func readPushList(n node, taskID string) (list []a2a.PushConfig, next string, ok bool) {
	configs := n.elements()
	if n.IsObject() {
		configs = n.list("configs")
	}
	for _, c := range configs {
		if config, is := readPush(c, taskID); is {
			list = append(list, config)
		}
	}
	// No list is an empty one to some, as a slice in Go is.
	return list, n.id("nextPageToken"), n.IsObject() || n.IsArray() || n.Raw == "null"
}

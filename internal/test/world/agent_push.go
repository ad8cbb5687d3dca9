package world

import (
	"time"

	"github.com/tidwall/gjson"
)

// takePush reads a message's address for pushes.
func (t *task) takePush(configuration gjson.Result) {
	if !t.agent.plan.Agent.Pushes {
		return
	}
	for _, name := range []string{"pushNotificationConfig", "taskPushNotificationConfig"} { // 0.3, 1.0
		if url := configuration.Get(name + ".url").Str; url != "" {
			t.hook = url
		}
	}
}

// setPush answers the method that sets a task's address for pushes.
func (a *agent) setPush(q *request) *reply {
	t := a.tasks[q.params.Get("taskId").Str]
	if t == nil {
		return errorReply(q, -32001, "task not found")
	}
	if t.hook = q.params.Get("url").Str; !a.plan.Agent.V1 {
		t.hook = q.params.Get("pushNotificationConfig.url").Str
	}
	return result(q, []byte(q.params.Raw))
}

func (a *agent) deletePush(q *request) *reply {
	id := q.params.Get("id").Str
	if a.plan.Agent.V1 {
		id = q.params.Get("taskId").Str
	}
	if t := a.tasks[id]; t != nil {
		t.hook = ""
	}
	return result(q, []byte("null"))
}

// push pushes an event: 0.3 pushes the whole task, 1.0 the event.
func (t *task) push(l logged) {
	a, url := t.agent, t.hook
	if url == "" {
		return
	}
	payload := l.payload
	if !a.plan.Agent.V1 {
		payload = a.spell.task(t, t.held(), allMessages)
	}
	a.after(a.plan.Agent.PushDelay, nil, func() {
		if a.tasks[t.id] != t || time.Now().Before(a.downTill) {
			return // it was restarted, or nothing gets through
		}
		l.said.Pushed = true
		a.tell("agent<", "pushed: %s", payload)
		if hook := a.hooks[url]; hook != nil {
			hook(payload)
		}
	})
}

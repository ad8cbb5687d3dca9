package transport

import (
	"context"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// SetPush asks the agent to report on a task. It is sent once, because an agent may
// keep two of what comes twice. An agent that cannot push refuses it with
// [a2a.CodePushNotSupported].
func (c *Client) SetPush(ctx context.Context, config a2a.PushConfig) error {
	op := newOperation(opSetPush)
	op.push = &config
	_, err := c.do(ctx, op)
	return err
}

// ListPush asks where a task is reported. What comes may hold credentials, and is not
// returned.
func (c *Client) ListPush(ctx context.Context, taskID string) error {
	_, err := c.do(ctx, aboutTask(ctx, opListPush, taskID))
	return err
}

// DeletePush removes one configuration of a task. Whatever result the agent
// gives, or none, means that it is gone.
func (c *Client) DeletePush(ctx context.Context, taskID, id string) error {
	if id == "" {
		// Some agents would take that for the task's ID.
		return failf(nil, "which push notification configuration of task %s is to be deleted is not said", taskID)
	}
	op := aboutTask(ctx, opDeletePush, taskID)
	op.pushID = id
	_, err := c.do(ctx, op)
	return err
}

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

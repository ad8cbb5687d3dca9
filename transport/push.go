package transport

import (
	"context"
	"slices"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// maxPushPages is how many pages of push notification configurations are asked
// for: a page has at least one, and nobody has a thousand webhooks for one task.
// It is for an agent whose pages go round in circles.
const maxPushPages = 1000

// SetPush asks the agent to report on a task, and returns the configuration as
// the agent has taken it, with its ID. It is sent once, because an agent may
// keep two of what comes twice. An agent that cannot push refuses it with
// [a2a.CodePushNotSupported]; what the agent's version has no words for is
// refused before anything is sent.
func (c *Client) SetPush(ctx context.Context, config a2a.PushConfig) (*a2a.PushConfig, error) {
	if err := checkPush(&config); err != nil {
		return nil, err
	}
	op := newOperation(opSetPush)
	op.push = &config
	return c.push(ctx, op, config.TaskID)
}

// GetPush looks up one configuration of a task. In 0.3 an empty id means the
// task's only one; 1.x has no such thing. Agents disagree on how they say that
// there is none: [a2a.CodeTaskNotFound] and [a2a.CodeInternal] were seen.
func (c *Client) GetPush(ctx context.Context, taskID, id string) (*a2a.PushConfig, error) {
	op := newOperation(opGetPush)
	op.taskID, op.pushID = taskID, id
	return c.push(ctx, op, taskID)
}

// ListPush looks up all configurations of a task, page by page if need be.
func (c *Client) ListPush(ctx context.Context, taskID string) ([]a2a.PushConfig, error) {
	var list []a2a.PushConfig
	op := newOperation(opListPush)
	op.taskID = taskID
	for range maxPushPages {
		s, err := c.do(ctx, op)
		if err != nil {
			return nil, err
		}
		more, next, ok := readPushList(parseNode(s.result), taskID)
		if !ok {
			return nil, failf(nil, "%s answered %s with something that is no list of push notification configurations", s.at, s.what)
		}
		list = append(list, more...)
		if next == "" || next == op.pageToken {
			break
		}
		op.pageToken = next
	}
	return list, nil
}

// DeletePush removes one configuration of a task. Whatever result the agent
// gives, or none, means that it is gone.
func (c *Client) DeletePush(ctx context.Context, taskID, id string) error {
	if id == "" {
		// Some agents would take that for the task's ID.
		return failf(nil, "which push notification configuration of task %s is to be deleted is not said", taskID)
	}
	op := newOperation(opDeletePush)
	op.taskID, op.pushID = taskID, id
	_, err := c.do(ctx, op)
	return err
}

// checkPush refuses what no version has words for.
func checkPush(c *a2a.PushConfig) error {
	if c.TaskID == "" {
		return failf(nil, "the push notification configuration names no task")
	}
	return checkPushConfig(c)
}

func checkPushConfig(c *a2a.PushConfig) error {
	switch {
	case c.URL == "":
		return failf(nil, "the push notification configuration names no URL")
	case c.Authentication != nil && (len(c.Authentication.Schemes) == 0 || slices.Contains(c.Authentication.Schemes, "")):
		return failf(nil, "the push notification configuration has authentication without a scheme, such as Bearer")
	}
	return nil
}

// push asks for an operation that returns a configuration.
func (c *Client) push(ctx context.Context, op *operation, taskID string) (*a2a.PushConfig, error) {
	s, err := c.do(ctx, op)
	if err != nil {
		return nil, err
	}
	config, ok := readPush(parseNode(s.result), taskID)
	if !ok {
		// What came may hold credentials, so it is not quoted.
		return nil, failf(nil, "%s answered %s with something that is no push notification configuration", s.at, s.what)
	}
	return &config, nil
}

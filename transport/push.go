package transport

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
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
	e, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkPush(&config); err != nil {
		return nil, err
	}
	method, params, err := e.protocol.setPush(&config)
	if err != nil {
		return nil, err
	}
	result, err := c.unary(ctx, e, opOnce, method, params)
	if err != nil {
		return nil, err
	}
	return pushResult(e, method, result, config.TaskID)
}

// GetPush looks up one configuration of a task. In 0.3 an empty id means the
// task's only one; 1.x has no such thing. Agents disagree on how they say that
// there is none: [a2a.CodeTaskNotFound] and [a2a.CodeInternal] were seen.
func (c *Client) GetPush(ctx context.Context, taskID, id string) (*a2a.PushConfig, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	method, params, err := e.protocol.getPush(taskID, id)
	if err != nil {
		return nil, err
	}
	result, err := c.unary(ctx, e, opRepeat, method, params)
	if err != nil {
		return nil, err
	}
	return pushResult(e, method, result, taskID)
}

// ListPush looks up all configurations of a task, page by page if need be.
func (c *Client) ListPush(ctx context.Context, taskID string) ([]a2a.PushConfig, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	var list []a2a.PushConfig
	token := ""
	for range maxPushPages {
		method, params := e.protocol.listPush(taskID, token)
		result, err := c.unary(ctx, e, opRepeat, method, params)
		if err != nil {
			return nil, err
		}
		more, next, ok := readPushList(rawjson.View(result), taskID)
		if !ok {
			return nil, failf(nil, "%s answered %s with something that is no list of push notification configurations", shown(e.url), method)
		}
		list = append(list, more...)
		if next == "" || next == token {
			break
		}
		token = next
	}
	return list, nil
}

// DeletePush removes one configuration of a task. Whatever result the agent
// gives, or none, means that it is gone.
func (c *Client) DeletePush(ctx context.Context, taskID, id string) error {
	e, err := c.connect(ctx)
	if err != nil {
		return err
	}
	if id == "" {
		// Some agents would take that for the task's ID.
		return failf(nil, "which push notification configuration of task %s is to be deleted is not said", taskID)
	}
	method, params := e.protocol.deletePush(taskID, id)
	_, err = c.unary(ctx, e, opRepeat, method, params)
	return err
}

// checkPush refuses what no version has words for.
func checkPush(c *a2a.PushConfig) error {
	switch {
	case c.TaskID == "":
		return failf(nil, "the push notification configuration names no task")
	case c.URL == "":
		return failf(nil, "the push notification configuration names no URL")
	case c.Authentication != nil && (len(c.Authentication.Schemes) == 0 || slices.Contains(c.Authentication.Schemes, "")):
		return failf(nil, "the push notification configuration has authentication without a scheme, such as Bearer")
	}
	return nil
}

// pushResult reads the configuration that a method returns.
func pushResult(e *endpoint, method string, result json.RawMessage, taskID string) (*a2a.PushConfig, error) {
	config, ok := readPush(strings.TrimSpace(rawjson.View(result)), taskID)
	if !ok {
		// What came may hold credentials, so it is not quoted.
		return nil, failf(nil, "%s answered %s with something that is no push notification configuration", shown(e.url), method)
	}
	return &config, nil
}

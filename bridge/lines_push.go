package bridge

import (
	"context"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// pushConfig is a push notification configuration as A2A 0.3 writes it (§6.8):
// the task's ID beside the configuration.
type pushConfig struct {
	TaskID string   `json:"taskId"`
	Config pushSpec `json:"pushNotificationConfig"`
}

type pushSpec struct {
	ID             string `json:"id,omitempty"`
	URL            string `json:"url"`
	Token          string `json:"token,omitempty"`
	Authentication *struct {
		Schemes     []string `json:"schemes"`
		Credentials string   `json:"credentials,omitempty"`
	} `json:"authentication,omitempty"`
}

func (p *pushSpec) neutral() a2a.PushConfig {
	c := a2a.PushConfig{ID: p.ID, URL: p.URL, Token: p.Token}
	if a := p.Authentication; a != nil {
		c.Authentication = &a2a.PushAuthentication{Schemes: a.Schemes, Credentials: a.Credentials}
	}
	return c
}

func pushConfigOf(c *a2a.PushConfig) *pushConfig {
	p := &pushConfig{TaskID: c.TaskID}
	p.Config.ID, p.Config.URL, p.Config.Token = c.ID, c.URL, c.Token
	if a := c.Authentication; a != nil {
		p.Config.Authentication = &struct {
			Schemes     []string `json:"schemes"`
			Credentials string   `json:"credentials,omitempty"`
		}{a.Schemes, a.Credentials}
	}
	return p
}

// pushParams name a configuration: the task is called id there.
type pushParams struct {
	TaskID   string `json:"id"`
	ConfigID string `json:"pushNotificationConfigId"`
}

func (e *linesEditor) setPush(c *editorRequest) {
	var p pushConfig
	e.once(c, &p, func(ctx context.Context) (any, error) {
		config := p.Config.neutral()
		config.TaskID = p.TaskID
		if err := e.checkPush(ctx, &config); err != nil {
			return nil, err
		}
		set, err := e.server.agent.opts.Client.SetPush(ctx, config)
		if err != nil {
			return nil, err
		}
		return pushConfigOf(set), nil
	})
}

// checkPush refuses a webhook that the agent must not be told to call.
func (e *linesEditor) checkPush(ctx context.Context, config *a2a.PushConfig) error {
	if config == nil {
		return nil
	}
	opts := &e.server.agent.opts
	if _, _, err := e.server.agent.Ready(ctx); err != nil { // where it is may be in its card
		return err
	}
	if err := opts.Client.CheckWebhook(ctx, config.URL, opts.WebhookPolicy); err != nil {
		return &paramsError{strings.TrimPrefix(err.Error(), "agent: ")}
	}
	return nil
}

func (e *linesEditor) getPush(c *editorRequest) {
	var p pushParams
	e.once(c, &p, func(ctx context.Context) (any, error) {
		got, err := e.server.agent.opts.Client.GetPush(ctx, p.TaskID, p.ConfigID)
		if err != nil {
			return nil, err
		}
		return pushConfigOf(got), nil
	})
}

func (e *linesEditor) listPush(c *editorRequest) {
	var p pushParams
	e.once(c, &p, func(ctx context.Context) (any, error) {
		all, err := e.server.agent.opts.Client.ListPush(ctx, p.TaskID)
		if err != nil {
			return nil, err
		}
		list := make([]*pushConfig, 0, len(all))
		for i := range all {
			list = append(list, pushConfigOf(&all[i]))
		}
		return list, nil
	})
}

func (e *linesEditor) deletePush(c *editorRequest) {
	var p pushParams
	e.once(c, &p, func(ctx context.Context) (any, error) {
		if p.ConfigID == "" {
			return nil, paramsErrorf("params need the pushNotificationConfigId of what is to be deleted")
		}
		return nil, e.server.agent.opts.Client.DeletePush(ctx, p.TaskID, p.ConfigID)
	})
}

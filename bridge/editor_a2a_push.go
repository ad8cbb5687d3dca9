package bridge

import (
	"context"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// pushConfig is a push notification configuration as A2A 0.3 writes it (§6.8):
// the task's ID beside the configuration.
type pushConfig struct {
	TaskID string `json:"taskId"`
	Config struct {
		ID             string `json:"id,omitempty"`
		URL            string `json:"url"`
		Token          string `json:"token,omitempty"`
		Authentication *struct {
			Schemes     []string `json:"schemes"`
			Credentials string   `json:"credentials,omitempty"`
		} `json:"authentication,omitempty"`
	} `json:"pushNotificationConfig"`
}

func (p *pushConfig) neutral() a2a.PushConfig {
	c := a2a.PushConfig{TaskID: p.TaskID, ID: p.Config.ID, URL: p.Config.URL, Token: p.Config.Token}
	if a := p.Config.Authentication; a != nil {
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

func (e *linesEditor) setPush(c *call) {
	var p pushConfig
	e.once(c, &p, func(ctx context.Context) (any, error) {
		set, err := e.server.agent.opts.Client.SetPush(ctx, p.neutral())
		if err != nil {
			return nil, err
		}
		return pushConfigOf(set), nil
	})
}

func (e *linesEditor) getPush(c *call) {
	var p pushParams
	e.once(c, &p, func(ctx context.Context) (any, error) {
		got, err := e.server.agent.opts.Client.GetPush(ctx, p.TaskID, p.ConfigID)
		if err != nil {
			return nil, err
		}
		return pushConfigOf(got), nil
	})
}

func (e *linesEditor) listPush(c *call) {
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

func (e *linesEditor) deletePush(c *call) {
	var p pushParams
	e.once(c, &p, func(ctx context.Context) (any, error) {
		return nil, e.server.agent.opts.Client.DeletePush(ctx, p.TaskID, p.ConfigID)
	})
}

package demo

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A wirePush is a push notification configuration (0.3, §6.8; 1.0, §4.3.1).
type wirePush struct {
	Tenant         string    `json:"tenant,omitempty"` // 1.0, as taskId
	ID             string    `json:"id,omitempty"`
	TaskID         string    `json:"taskId,omitempty"`
	URL            string    `json:"url,omitempty"`
	Token          string    `json:"token,omitempty"`
	Authentication *wireAuth `json:"authentication,omitempty"`
}

type wireAuth struct {
	Schemes     []string `json:"schemes,omitempty"` // 0.3
	Scheme      string   `json:"scheme,omitempty"`  // 1.0
	Credentials string   `json:"credentials,omitempty"`
}

func (p *wirePush) neutral() *pushConfig {
	c := &pushConfig{id: p.ID, url: p.URL, token: p.Token}
	if a := p.Authentication; a != nil {
		c.scheme, c.credentials = a.Scheme, a.Credentials
		if len(a.Schemes) > 0 {
			c.scheme = a.Schemes[0]
		}
	}
	return c
}

// A pushRequest is the parameters of one of the four methods.
type pushRequest struct {
	taskID, id string
	config     *pushConfig // to be set
}

// pushParams reads the parameters of a method, by its 0.3 name.
func (w wire) pushParams(method string, params json.RawMessage) (pushRequest, error) {
	var p struct {
		wirePush
		ConfigID  string    `json:"pushNotificationConfigId"` // 0.3, as the next
		Config    *wirePush `json:"pushNotificationConfig"`
		PageSize  int       `json:"pageSize"`
		PageToken string    `json:"pageToken"`
	}
	if err := w.read(params, &p); err != nil {
		return pushRequest{}, err
	}
	set := strings.HasSuffix(method, "/set")
	switch {
	case set && w.v1:
		return pushRequest{taskID: p.TaskID, config: p.neutral()}, nil
	case set && p.Config == nil:
		return pushRequest{}, fmt.Errorf("pushNotificationConfig is missing")
	case set:
		return pushRequest{taskID: p.TaskID, config: p.Config.neutral()}, nil
	case !w.v1:
		return pushRequest{taskID: p.ID, id: p.ConfigID}, nil
	case p.ID == "" && !strings.HasSuffix(method, "/list"):
		return pushRequest{}, fmt.Errorf("id is missing")
	}
	return pushRequest{taskID: p.TaskID, id: p.ID}, nil
}

func (w wire) pushConfig(taskID string, c *pushConfig) any {
	out := wirePush{ID: c.id, URL: c.url, Token: c.token}
	if c.scheme != "" {
		out.Authentication = &wireAuth{Credentials: c.credentials}
		if w.v1 {
			out.Authentication.Scheme = c.scheme
		} else {
			out.Authentication.Schemes = []string{c.scheme}
		}
	}
	if w.v1 {
		out.TaskID = taskID
		return out
	}
	return map[string]any{"taskId": taskID, "pushNotificationConfig": out}
}

// pushed is the body of a push for an event, and its content type: in 0.3 the whole task
// (§9.5), in 1.0 the event (§4.3.3).
func (w wire) pushed(t *task, e event) (body any, contentType string) {
	if w.v1 {
		return w.event(t, e), "application/a2a+json"
	}
	return w.task(t.view(nil)), "application/json"
}

package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A pushRequest is the parameters of one of the four methods.
type pushRequest struct {
	taskID, id string
	config     *pushConfig // to be set
}

// v03Push is a configuration as 0.3 has it (§6.8).
type v03Push struct {
	ID             string `json:"id,omitempty"`
	URL            string `json:"url"`
	Token          string `json:"token,omitempty"`
	Authentication *struct {
		Schemes     []string `json:"schemes"`
		Credentials string   `json:"credentials,omitempty"`
	} `json:"authentication,omitempty"`
}

func (w *v03Push) neutral() *pushConfig {
	c := &pushConfig{id: w.ID, url: w.URL, token: w.Token}
	if a := w.Authentication; a != nil && len(a.Schemes) > 0 {
		c.scheme, c.credentials = a.Schemes[0], a.Credentials
	}
	return c
}

func (v03) pushParams(method string, params json.RawMessage) (p pushRequest, err error) {
	var w struct {
		ID       string   `json:"id"`
		ConfigID string   `json:"pushNotificationConfigId"`
		TaskID   string   `json:"taskId"`
		Config   *v03Push `json:"pushNotificationConfig"`
	}
	if err := readParams(params, &w); err != nil {
		return p, err
	}
	if strings.HasSuffix(method, "/set") {
		if w.Config == nil {
			return p, fmt.Errorf("pushNotificationConfig is missing")
		}
		return pushRequest{taskID: w.TaskID, config: w.Config.neutral()}, nil
	}
	return pushRequest{taskID: w.ID, id: w.ConfigID}, nil
}

func (v03) pushConfig(taskID string, c *pushConfig) any {
	w := v03Push{ID: c.id, URL: c.url, Token: c.token}
	if c.scheme != "" {
		w.Authentication = &struct {
			Schemes     []string `json:"schemes"`
			Credentials string   `json:"credentials,omitempty"`
		}{[]string{c.scheme}, c.credentials}
	}
	return map[string]any{"taskId": taskID, "pushNotificationConfig": w}
}

func (v03) pushList(list []any) any { return list }

func (v03) pushDeleted() any { return json.RawMessage("null") }

func (v03) pushType() string { return "application/json" }

// pushed: 0.3 has the whole task for each event (§9.5).
func (v v03) pushed(t *task, _ event) any { return v.task(t.view(-1)) }

// v1Push is a configuration as 1.0 has it (§4.3.1).
type v1Push struct {
	Tenant         string `json:"tenant,omitempty"`
	ID             string `json:"id,omitempty"`
	TaskID         string `json:"taskId,omitempty"`
	URL            string `json:"url"`
	Token          string `json:"token,omitempty"`
	Authentication *struct {
		Scheme      string `json:"scheme"`
		Credentials string `json:"credentials,omitempty"`
	} `json:"authentication,omitempty"`
}

func (w *v1Push) neutral() *pushConfig {
	c := &pushConfig{id: w.ID, url: w.URL, token: w.Token}
	if a := w.Authentication; a != nil {
		c.scheme, c.credentials = a.Scheme, a.Credentials
	}
	return c
}

func (v1) pushParams(method string, params json.RawMessage) (p pushRequest, err error) {
	if len(params) == 0 {
		return p, fmt.Errorf("params are missing")
	}
	d := json.NewDecoder(bytes.NewReader(params))
	d.DisallowUnknownFields()
	if strings.HasSuffix(method, "/set") {
		var w v1Push
		if err := d.Decode(&w); err != nil {
			return p, err
		}
		return pushRequest{taskID: w.TaskID, config: w.neutral()}, nil
	}
	var w struct {
		Tenant    string `json:"tenant"`
		TaskID    string `json:"taskId"`
		ID        string `json:"id"`
		PageSize  int    `json:"pageSize"`
		PageToken string `json:"pageToken"`
	}
	if err := d.Decode(&w); err != nil {
		return p, err
	}
	if w.ID == "" && !strings.HasSuffix(method, "/list") {
		return p, fmt.Errorf("id is missing")
	}
	return pushRequest{taskID: w.TaskID, id: w.ID}, nil
}

func (v1) pushConfig(taskID string, c *pushConfig) any {
	w := v1Push{TaskID: taskID, ID: c.id, URL: c.url, Token: c.token}
	if c.scheme != "" {
		w.Authentication = &struct {
			Scheme      string `json:"scheme"`
			Credentials string `json:"credentials,omitempty"`
		}{c.scheme, c.credentials}
	}
	return w
}

func (v1) pushList(list []any) any { return map[string]any{"configs": list} }

func (v1) pushDeleted() any { return struct{}{} }

func (v1) pushType() string { return "application/a2a+json" }

// pushed: 1.0 has the stream's events (§4.3.3).
func (v v1) pushed(t *task, e event) any {
	if e.created {
		return v.result(t.born(e))
	}
	return v.update(t, e)
}

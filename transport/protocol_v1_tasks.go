package transport

import (
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// What 1.x says about tasks beside the conversation: lists of them, and push
// notifications (specification 1.0, §3.1.4 and §3.1.7 to §3.1.11).
type (
	v1List struct {
		Tenant           string `json:"tenant,omitempty"`
		ContextID        string `json:"contextId,omitempty"`
		Status           string `json:"status,omitempty"`
		PageSize         int    `json:"pageSize,omitempty"`
		PageToken        string `json:"pageToken,omitempty"`
		HistoryLength    *int   `json:"historyLength,omitempty"`
		IncludeArtifacts bool   `json:"includeArtifacts,omitempty"`
		StatusAfter      string `json:"statusTimestampAfter,omitempty"`
	}
	v1Push struct {
		Tenant         string                `json:"tenant,omitempty"`
		ID             string                `json:"id,omitempty"`
		TaskID         string                `json:"taskId,omitempty"` // none in a message's configuration
		URL            string                `json:"url"`
		Token          string                `json:"token,omitempty"`
		Authentication *v1PushAuthentication `json:"authentication,omitempty"`
	}
	v1PushAuthentication struct {
		Scheme      string `json:"scheme"`
		Credentials string `json:"credentials,omitempty"`
	}
	v1PushID struct {
		Tenant string `json:"tenant,omitempty"`
		TaskID string `json:"taskId"`
		ID     string `json:"id"`
	}
	v1PushList struct {
		Tenant    string `json:"tenant,omitempty"`
		TaskID    string `json:"taskId"`
		PageToken string `json:"pageToken,omitempty"`
	}
	v1Tenant struct {
		Tenant string `json:"tenant,omitempty"`
	}
)

// taskParams are the parameters of such a call.
func (p protocolV1) taskParams(c *operation) (any, error) {
	switch c.kind {
	case opList:
		q := c.query
		if q.State == a2a.StateUnknown {
			// UNSPECIFIED is no state there: it would mean tasks in any.
			return nil, failf(nil, "tasks cannot be listed by the state %q in A2A 1.x, which has no such state", q.State)
		}
		return v1List{
			Tenant: p.tenant, ContextID: q.ContextID, Status: v1State(q.State),
			PageSize: q.PageSize, PageToken: q.PageToken,
			HistoryLength: q.HistoryLength, IncludeArtifacts: q.IncludeArtifacts, StatusAfter: q.StatusAfter,
		}, nil
	case opSetPush:
		params, err := v1PushOf(c.push)
		if err != nil {
			return nil, err
		}
		params.Tenant, params.TaskID = p.tenant, c.push.TaskID
		return params, nil
	case opGetPush:
		if c.pushID == "" {
			return nil, failf(nil, "A2A 1.x needs the ID of the push notification configuration of task %s", c.taskID)
		}
		return v1PushID{p.tenant, c.taskID, c.pushID}, nil
	case opDeletePush:
		return v1PushID{p.tenant, c.taskID, c.pushID}, nil
	case opListPush:
		return v1PushList{p.tenant, c.taskID, c.pageToken}, nil
	}
	return v1Tenant{p.tenant}, nil
}

// v1State spells a state in 1.x; none is none.
func v1State(s a2a.State) string {
	if s == "" {
		return ""
	}
	return "TASK_STATE_" + strings.ReplaceAll(strings.ToUpper(string(s)), "-", "_")
}

// v1PushOf spells a configuration without its task; nil for none.
func v1PushOf(c *a2a.PushConfig) (*v1Push, error) {
	if c == nil {
		return nil, nil
	}
	p := &v1Push{ID: c.ID, URL: c.URL, Token: c.Token}
	if a := c.Authentication; a != nil {
		if len(a.Schemes) > 1 {
			return nil, failf(nil, "A2A 1.x takes one authentication scheme for push notifications, not %d (%s)",
				len(a.Schemes), strings.Join(a.Schemes, ", "))
		}
		p.Authentication = &v1PushAuthentication{a.Schemes[0], a.Credentials}
	}
	return p, nil
}

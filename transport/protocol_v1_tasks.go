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
	}
	v1Push struct {
		Tenant         string                `json:"tenant,omitempty"`
		ID             string                `json:"id,omitempty"`
		TaskID         string                `json:"taskId"`
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

func (p protocolV1) list(q *a2a.TaskQuery) (string, any, error) {
	if q.State == a2a.StateUnknown {
		// UNSPECIFIED is no state there: it would mean tasks in any.
		return "", nil, failf(nil, "tasks cannot be listed by the state %q in A2A 1.x, which has no such state", q.State)
	}
	return "ListTasks", v1List{
		Tenant: p.tenant, ContextID: q.ContextID, Status: v1State(q.State),
		PageSize: q.PageSize, PageToken: q.PageToken,
		HistoryLength: q.HistoryLength, IncludeArtifacts: q.IncludeArtifacts,
	}, nil
}

// v1State spells a state in 1.x; none is none.
func v1State(s a2a.State) string {
	if s == "" {
		return ""
	}
	return "TASK_STATE_" + strings.ReplaceAll(strings.ToUpper(string(s)), "-", "_")
}

func (p protocolV1) setPush(c *a2a.PushConfig) (string, any, error) {
	params := v1Push{Tenant: p.tenant, ID: c.ID, TaskID: c.TaskID, URL: c.URL, Token: c.Token}
	if a := c.Authentication; a != nil {
		if len(a.Schemes) > 1 {
			return "", nil, failf(nil, "A2A 1.x takes one authentication scheme for push notifications, not %d (%s)",
				len(a.Schemes), strings.Join(a.Schemes, ", "))
		}
		params.Authentication = &v1PushAuthentication{a.Schemes[0], a.Credentials}
	}
	return "CreateTaskPushNotificationConfig", params, nil
}

func (p protocolV1) getPush(taskID, id string) (string, any, error) {
	if id == "" {
		return "", nil, failf(nil, "which push notification configuration of task %s is wanted is not said, and A2A 1.x has none without an ID", taskID)
	}
	return "GetTaskPushNotificationConfig", v1PushID{p.tenant, taskID, id}, nil
}

func (p protocolV1) listPush(taskID, pageToken string) (string, any) {
	return "ListTaskPushNotificationConfigs", v1PushList{p.tenant, taskID, pageToken}
}

func (p protocolV1) deletePush(taskID, id string) (string, any) {
	return "DeleteTaskPushNotificationConfig", v1PushID{p.tenant, taskID, id}
}

func (p protocolV1) extendedCard() (string, any) {
	return "GetExtendedAgentCard", v1Tenant{p.tenant}
}

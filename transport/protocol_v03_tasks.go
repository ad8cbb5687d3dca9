package transport

import "github.com/a2astdio/a2astdio/transport/a2a"

// What 0.3 says about tasks beside the conversation: lists of them, and push
// notifications (specification 0.3, §7.5 to §7.10).
type (
	// v03List is in no specification of 0.3. Two have it all the same: a2a-go
	// 0.3.15, which wants its parameters in snake_case, and Mastra, which has 1.x's
	// names. Each passes over the other's, and 0.3 agents do not mind.
	v03List struct {
		ContextID             string `json:"contextId,omitempty"`
		ContextIDSnake        string `json:"context_id,omitempty"`
		Status                string `json:"status,omitempty"`
		PageSize              int    `json:"pageSize,omitempty"`
		PageSizeSnake         int    `json:"page_size,omitempty"`
		PageToken             string `json:"pageToken,omitempty"`
		PageTokenSnake        string `json:"page_token,omitempty"`
		HistoryLength         *int   `json:"historyLength,omitempty"`
		HistoryLengthSnake    *int   `json:"history_length,omitempty"`
		IncludeArtifacts      bool   `json:"includeArtifacts,omitempty"`
		IncludeArtifactsSnake bool   `json:"include_artifacts,omitempty"`
		UpdatedAfter          string `json:"lastUpdatedAfter,omitempty"`
		StatusAfter           string `json:"statusTimestampAfter,omitempty"`
	}
	v03TaskPush struct {
		TaskID string  `json:"taskId"`
		Config v03Push `json:"pushNotificationConfig"`
	}
	v03Push struct {
		ID             string                 `json:"id,omitempty"`
		URL            string                 `json:"url"`
		Token          string                 `json:"token,omitempty"`
		Authentication *v03PushAuthentication `json:"authentication,omitempty"`
	}
	v03PushAuthentication struct {
		Schemes     []string `json:"schemes"`
		Credentials string   `json:"credentials,omitempty"`
	}
	// v03PushID: id is the task's.
	v03PushID struct {
		ID       string `json:"id"`
		ConfigID string `json:"pushNotificationConfigId,omitempty"`
	}
)

// v03TaskParams are the parameters of such a call; nil for the extended card, which
// has none.
func v03TaskParams(c *operation) any {
	switch c.kind {
	case opList:
		q := c.query
		return v03List{
			ContextID: q.ContextID, ContextIDSnake: q.ContextID,
			Status:   string(q.State),
			PageSize: q.PageSize, PageSizeSnake: q.PageSize,
			PageToken: q.PageToken, PageTokenSnake: q.PageToken,
			HistoryLength: q.HistoryLength, HistoryLengthSnake: q.HistoryLength,
			IncludeArtifacts: q.IncludeArtifacts, IncludeArtifactsSnake: q.IncludeArtifacts,
			UpdatedAfter: q.StatusAfter, StatusAfter: q.StatusAfter,
		}
	case opSetPush:
		return v03TaskPush{TaskID: c.push.TaskID, Config: *v03PushOf(c.push)}
	case opGetPush, opDeletePush:
		return v03PushID{c.taskID, c.pushID}
	case opListPush: // 0.3 has no pages, and so no token
		return v03PushID{ID: c.taskID}
	}
	return nil
}

// v03PushOf spells a configuration without its task; nil for none.
func v03PushOf(c *a2a.PushConfig) *v03Push {
	if c == nil {
		return nil
	}
	p := &v03Push{ID: c.ID, URL: c.URL, Token: c.Token}
	if a := c.Authentication; a != nil {
		p.Authentication = &v03PushAuthentication{a.Schemes, a.Credentials}
	}
	return p
}

package transport

import (
	"context"
	"fmt"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// The request of each method, with all of its members, in both versions.
func TestMethodRequests(t *testing.T) {
	history := 0
	push := a2a.PushConfig{TaskID: "t", ID: "c1", URL: "https://e.example/hook", Token: "tok",
		Authentication: &a2a.PushAuthentication{Schemes: []string{"Bearer"}, Credentials: "sec"}}
	calls := []struct {
		name    string
		call    func(context.Context, *Client) error
		v03, v1 string
	}{
		{"send and wait", func(ctx context.Context, c *Client) error { _, err := c.SendOnce(ctx, hello(), true); return err },
			`"message/send","params":{"message":{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"hello"}]},"configuration":{"blocking":true}}`,
			`"SendMessage","params":{"tenant":"x","message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hello"}]}}`},
		{"send", func(ctx context.Context, c *Client) error { _, err := c.SendOnce(ctx, hello(), false); return err },
			`"message/send","params":{"message":{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"hello"}]},"configuration":{"blocking":false}}`,
			`"SendMessage","params":{"tenant":"x","message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hello"}]},"configuration":{"returnImmediately":true}}`},
		{"list", func(ctx context.Context, c *Client) error { _, err := c.List(ctx, a2a.TaskQuery{}); return err },
			`"tasks/list","params":{}`, `"ListTasks","params":{"tenant":"x"}`},
		{"list some", func(ctx context.Context, c *Client) error {
			_, err := c.List(ctx, a2a.TaskQuery{ContextID: "c", State: a2a.StateInputRequired, PageSize: 5, PageToken: "p", HistoryLength: &history, IncludeArtifacts: true})
			return err
		},
			`"tasks/list","params":{"contextId":"c","context_id":"c","status":"input-required","pageSize":5,"page_size":5,"pageToken":"p","page_token":"p","historyLength":0,"history_length":0,"includeArtifacts":true,"include_artifacts":true}`,
			`"ListTasks","params":{"tenant":"x","contextId":"c","status":"TASK_STATE_INPUT_REQUIRED","pageSize":5,"pageToken":"p","historyLength":0,"includeArtifacts":true}`},
		{"set", func(ctx context.Context, c *Client) error { _, err := c.SetPush(ctx, push); return err },
			`"tasks/pushNotificationConfig/set","params":{"taskId":"t","pushNotificationConfig":{"id":"c1","url":"https://e.example/hook","token":"tok","authentication":{"schemes":["Bearer"],"credentials":"sec"}}}`,
			`"CreateTaskPushNotificationConfig","params":{"tenant":"x","id":"c1","taskId":"t","url":"https://e.example/hook","token":"tok","authentication":{"scheme":"Bearer","credentials":"sec"}}`},
		{"set little", func(ctx context.Context, c *Client) error {
			_, err := c.SetPush(ctx, a2a.PushConfig{TaskID: "t", URL: "u"})
			return err
		},
			`"tasks/pushNotificationConfig/set","params":{"taskId":"t","pushNotificationConfig":{"url":"u"}}`,
			`"CreateTaskPushNotificationConfig","params":{"tenant":"x","taskId":"t","url":"u"}`},
		{"get", func(ctx context.Context, c *Client) error { _, err := c.GetPush(ctx, "t", "c1"); return err },
			`"tasks/pushNotificationConfig/get","params":{"id":"t","pushNotificationConfigId":"c1"}`,
			`"GetTaskPushNotificationConfig","params":{"tenant":"x","taskId":"t","id":"c1"}`},
		{"list push", func(ctx context.Context, c *Client) error { _, err := c.ListPush(ctx, "t"); return err },
			`"tasks/pushNotificationConfig/list","params":{"id":"t"}`,
			`"ListTaskPushNotificationConfigs","params":{"tenant":"x","taskId":"t"}`},
		{"delete", func(ctx context.Context, c *Client) error { return c.DeletePush(ctx, "t", "c1") },
			`"tasks/pushNotificationConfig/delete","params":{"id":"t","pushNotificationConfigId":"c1"}`,
			`"DeleteTaskPushNotificationConfig","params":{"tenant":"x","taskId":"t","id":"c1"}`},
		{"card", func(ctx context.Context, c *Client) error { _, err := c.ExtendedCard(ctx); return err },
			`"agent/getAuthenticatedExtendedCard"`, `"GetExtendedAgentCard","params":{"tenant":"x"}`},
	}
	for _, version := range []string{"0.3", "1.0"} {
		// The answer suits all of them.
		agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"id":"t","status":{"state":1},"url":"u"}}`))
		agent.card = bothCard
		c := wireClient(t, agent.URL, &ClientOptions{Version: version})
		c.Activate([]string{"https://e.example/x/v1"})
		for i, test := range calls {
			if err := test.call(t.Context(), c); err != nil {
				t.Errorf("%s %s: %v", version, test.name, err)
				continue
			}
			want, header := test.v03, "[]"
			if version == "1.0" {
				want, header = test.v1, "[1.0]"
			}
			r := agent.seen()[i]
			if want = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s}`, i+1, want); r.Body != want {
				t.Errorf("%s: got\n%s\nwant\n%s", test.name, r.Body, want)
			}
			if got := fmt.Sprint(r.Header["A2a-Version"]); got != header {
				t.Errorf("%s %s: A2A-Version %s", version, test.name, got)
			}
			if len(r.Header["A2a-Extensions"])+len(r.Header["X-A2a-Extensions"]) != 1 {
				t.Errorf("%s %s: headers %v", version, test.name, r.Header)
			}
		}
	}
}

// A method or member that a version does not have is refused before a request is sent.
func TestMethodsRefused(t *testing.T) {
	push := func(c a2a.PushConfig) func(*Client) error {
		return func(client *Client) error { _, err := client.SetPush(context.Background(), c); return err }
	}
	list := func(s a2a.State) func(*Client) error {
		return func(c *Client) error { _, err := c.List(context.Background(), a2a.TaskQuery{State: s}); return err }
	}
	two := &a2a.PushAuthentication{Schemes: []string{"Bearer", "Basic"}}
	for _, test := range []struct {
		call    func(*Client) error
		v03, v1 string
		reaches bool // 0.3 has words for it
	}{
		{call: push(a2a.PushConfig{URL: "u"}), v03: "agent: the push notification configuration names no task"},
		{call: push(a2a.PushConfig{TaskID: "t"}), v03: "agent: the push notification configuration names no URL"},
		{call: push(a2a.PushConfig{TaskID: "t", URL: "u", Authentication: &a2a.PushAuthentication{}}), v03: "agent: the push notification configuration has authentication without a scheme, such as Bearer"},
		{call: push(a2a.PushConfig{TaskID: "t", URL: "u", Authentication: two}), reaches: true, v1: "agent: A2A 1.x takes one authentication scheme for push notifications, not 2 (Bearer, Basic)"},
		{call: func(c *Client) error { _, err := c.GetPush(context.Background(), "t", ""); return err }, reaches: true, v1: "agent: A2A 1.x needs the ID of the push notification configuration of task t"},
		{call: func(c *Client) error { return c.DeletePush(context.Background(), "t", "") }, v03: "agent: which push notification configuration of task t is to be deleted is not said"},
		{call: list("dreaming"), v03: `agent: tasks cannot be listed by the state "dreaming", which A2A has not`},
		{call: list(a2a.StateUnknown), reaches: true, v1: `agent: tasks cannot be listed by the state "unknown" in A2A 1.x, which has no such state`},
		{call: func(c *Client) error {
			_, err := c.SendOnce(context.Background(), &a2a.Outgoing{ID: "m"}, true)
			return err
		}, v03: "agent: the message has no parts"},
	} {
		for _, version := range []string{"0.3", "1.0"} {
			agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"url":"u"}}`))
			agent.card = bothCard
			err := test.call(wireClient(t, agent.URL, &ClientOptions{Version: version}))
			want := test.v03
			if version == "1.0" && test.v1 != "" {
				want = test.v1
			}
			if version == "0.3" && test.reaches {
				if err != nil || len(agent.seen()) != 1 {
					t.Errorf("0.3: %v", err)
				}
			} else if err == nil || err.Error() != want || len(agent.seen()) != 0 {
				t.Errorf("%s: got %v\nwant %s; %d requests", version, err, want, len(agent.seen()))
			}
		}
	}
}

package transport

import (
	"context"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A method or member that a version does not have is refused before a request is sent.
func TestMethodsRefused(t *testing.T) {
	list := func(s a2a.State) func(*Client) error {
		return func(c *Client) error { _, err := c.List(context.Background(), a2a.TaskQuery{State: s}); return err }
	}
	for _, test := range []struct {
		call    func(*Client) error
		v03, v1 string
		reaches bool // 0.3 has words for it
	}{
		{call: func(c *Client) error { return c.DeletePush(context.Background(), "t", "") }, v03: "agent: which push notification configuration of task t is to be deleted is not said"},
		{call: list("dreaming"), v03: `agent: tasks cannot be listed by the state "dreaming", which A2A has not`},
		{call: list(a2a.StateUnknown), reaches: true, v1: `agent: tasks cannot be listed by the state "unknown" in A2A 1.x, which has no such state`},
		{call: func(c *Client) error {
			_, err := c.SendOnce(context.Background(), &a2a.Outgoing{ID: "m"}, true)
			return err
		}, v03: "agent: the message has no ID, or no parts"},
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

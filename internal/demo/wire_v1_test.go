package demo

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// v1Client switches a client to 1.0.
func v1Client(c *client) {
	c.header.Set("A2A-Version", "1.0")
	c.header.Set("A2A-Extensions", ExtensionURI)
	c.header.Del("X-A2A-Extensions")
	c.v1 = true
}

// v1Name is the 1.0 name of a method; one that has another name is taken as it is.
func v1Name(method string) string {
	names := map[string]string{
		"message/send": "SendMessage", "message/stream": "SendStreamingMessage", "tasks/get": "GetTask",
		"tasks/cancel": "CancelTask", "tasks/resubscribe": "SubscribeToTask",
	}
	return cmp.Or(names[method], method)
}

func withoutKind(parts []map[string]any) []map[string]any {
	var list []map[string]any
	for _, p := range parts {
		p = maps.Clone(p)
		delete(p, "kind")
		list = append(list, p)
	}
	return list
}

// asV03 is an event of a 1.0 stream in the terms of line.
func asV03(e map[string]any) map[string]any {
	kind, v := "status-update", e["statusUpdate"]
	if e["task"] != nil {
		kind, v = "task", e["task"]
	}
	if v == nil {
		return e
	}
	state := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(at(v, "status.state").(string), "TASK_STATE_"), "_", "-"))
	status := maps.Clone(at(v, "status").(map[string]any))
	status["state"] = state
	return map[string]any{"kind": kind, "status": status, "final": terminal(state) || state == stateInputRequired}
}

func (c *client) messageV1(taskID string, parts ...map[string]any) map[string]any {
	return c.address(taskID, map[string]any{"messageId": "u1", "role": "ROLE_USER", "parts": parts})
}

func textV1(s string) map[string]any { return map[string]any{"text": s} }

func TestPartsOfV1(t *testing.T) {
	converse(t, nil, func(t *testing.T, c *client) {
		v1Client(c)
		got := c.open("SendStreamingMessage", c.messageV1("", textV1("hello"),
			map[string]any{"raw": "AAEC", "mediaType": "image/png"},
			map[string]any{"url": "file:///a", "filename": "a"},
			map[string]any{"data": []any{1, "two"}})).rest()
		expect(t, "parts", got[2:5], `"I received image/png, 3 bytes.\n"`, `"I received a link to file:///a (a).\n"`, `"I received data: [1,\"two\"]\n"`)
		for _, part := range []map[string]any{{}, {"text": "a", "url": "b"}, {"raw": "*"}, {"kind": "text", "text": "a"}} {
			_, err := c.call("SendMessage", c.messageV1("", part))
			expectError(t, err, "-32602")
		}
	})
}

func TestVersions(t *testing.T) {
	get := map[string]any{"id": "nope"}
	converse(t, nil, func(t *testing.T, c *client) {
		c.header.Set("A2A-Extensions", ExtensionURI)
		for _, test := range []struct{ header, method, want string }{
			{"", "tasks/get", "-32001"},
			{"0.3", "tasks/get", "-32001"},
			{"1.0", "GetTask", "-32001"},
			{"", "GetTask", "-32601"},
			{"1.0", "tasks/get", "-32601"},
			{"1.0.1", "GetTask", "-32009"},
			{"9.9", "GetTask", "-32009"},
			{"1.0", "GetExtendedAgentCard", "-32004"},
			{"", "agent/getAuthenticatedExtendedCard", "-32007"},
		} {
			c.header.Set("A2A-Version", test.header)
			_, err := c.call(test.method, get)
			must.Equal(t, strings.HasPrefix(err, test.want), true, test, err)
		}
		resp := must.Get(c.http.Get(URL + ".well-known/agent-card.json"))(t)
		defer resp.Body.Close()
		var card any
		must.Do(t, json.NewDecoder(resp.Body).Decode(&card))
		must.Equal(t, [2]any{at(card, "protocolVersion"), at(card, "supportedInterfaces.0.protocolVersion")}, [2]any{"0.3.0", "1.0"})
	})
}

package demo

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
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
	converse(t, &Options{Version: "1.0"}, func(t *testing.T, c *client) {
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
	tests := must.Table[struct{ Version, Header, Method, Want string }](t, "testdata/versions.txt")
	for _, test := range tests {
		converse(t, &Options{Version: test.Version}, func(t *testing.T, c *client) {
			c.header.Set("A2A-Version", test.Header)
			c.header.Set("A2A-Extensions", ExtensionURI)
			if _, err := c.call(test.Method, get); !strings.HasPrefix(err, test.Want) {
				t.Errorf("%q: %s with %q: error %q, want %s", test.Version, test.Method, test.Header, err, test.Want)
			}
		})
	}
	for version, want := range map[string][2]any{"": {"0.3.0", nil}, "1.0": {nil, "1.0"}, "both": {"0.3.0", "1.0"}} {
		converse(t, &Options{Version: version}, func(t *testing.T, c *client) {
			resp := must.Get(c.http.Get(URL + ".well-known/agent-card.json"))(t)
			defer resp.Body.Close()
			var card any
			if err := json.NewDecoder(resp.Body).Decode(&card); err != nil || resp.StatusCode != http.StatusOK {
				t.Fatal(resp.Status, err)
			}
			if got := [2]any{at(card, "protocolVersion"), at(card, "supportedInterfaces.0.protocolVersion")}; got != want {
				t.Errorf("%q: the card offers %v, want %v", version, got, want)
			}
		})
	}
}

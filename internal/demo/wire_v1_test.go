package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// v1Client switches a client to 1.0.
func v1Client(c *client) *client {
	c.header.Set("A2A-Version", "1.0")
	c.header.Set("A2A-Extensions", ExtensionURI)
	c.header.Del("X-A2A-Extensions")
	c.v1 = true
	return c
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

func TestConversationInV1(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []string{"1.0", "both"} {
		converseIn(t, dir, &Options{Version: version}, func(t *testing.T, c *client) {
			v1Client(c)
			expect(t, "asked", c.prompt("edit "+version),
				"task submitted", "working", "thought: Planning an edit", "Edit PENDING?", "input-required (final)")
			expect(t, "approved", c.confirm("proceed_once"),
				"Edit EXECUTING", "Edit SUCCEEDED", `"I wrote "`, fmt.Sprintf("%q", version), `".\n"`,
				ran("write %q to %q (proceed_once)", demoLine, filepath.Join(dir, version)), "completed (final)")
			expectFile(t, filepath.Join(dir, version), demoLine)
			for _, e := range c.seen {
				raw, _ := json.Marshal(e)
				for _, old := range []string{`"kind":"message"`, `"kind":"text"`, `"kind":"status-update"`, `"final"`} {
					if strings.Contains(string(raw), old) {
						t.Errorf("%s in %s", old, raw)
					}
				}
			}

			got, _ := c.call("GetTask", map[string]any{"id": c.taskID})
			if at(got, "status.state") != "TASK_STATE_COMPLETED" || at(got, "history.0.role") != "ROLE_USER" || at(got, "history.2.role") != "ROLE_AGENT" {
				t.Errorf("GetTask: %v", got)
			}
			_, err := c.call("SubscribeToTask", map[string]any{"id": c.taskID})
			expectError(t, err, "-32004")
			got, _ = c.call("ListTasks", map[string]any{"status": "TASK_STATE_COMPLETED"})
			if at(got, "totalSize") != 1.0 || at(got, "tasks.0.id") != c.taskID {
				t.Errorf("ListTasks: %v", got)
			}

			p := c.messageV1("", textV1("slow"))
			p["configuration"] = map[string]any{"returnImmediately": true}
			got, _ = c.call("SendMessage", p)
			id := at(got, "task.id")
			if at(got, "task.status.state") != "TASK_STATE_WORKING" {
				t.Errorf("SendMessage: %v", got)
			}
			r := c.open("SubscribeToTask", map[string]any{"id": id})
			r.next()
			if got, _ = c.call("CancelTask", map[string]any{"id": id}); at(got, "status.state") != "TASK_STATE_CANCELED" {
				t.Errorf("CancelTask: %v", got)
			}
			lines := r.rest()
			expect(t, "the end", lines[len(lines)-1:], "canceled (final)")
			_, err = c.call("SendMessage", c.messageV1(id.(string), textV1("hello")))
			expectError(t, err, "-32004")
			if got, _ = c.call("SendMessage", c.messageV1("", textV1("hello"))); at(got, "task.history.2.parts.0.text") != "Hello from the a2astdio demo agent." {
				t.Errorf("SendMessage waits: %v", got)
			}
			if got, _ = c.call("commands/get", nil); at(got, "commands.0.name") != "memory" {
				t.Errorf("commands/get: %v", got)
			}
		})
	}
}

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
	tests := []struct {
		version, header, method, want string
	}{
		{"0.3", "", "tasks/get", "-32001"},
		{"0.3", "1.0", "tasks/get", "-32001"}, // a header that 0.3 does not know
		{"0.3", "1.0", "GetTask", "-32601"},
		{"1.0", "1.0", "GetTask", "-32001"},
		{"1.0", "1.0", "tasks/get", "-32601"},
		{"1.0", "", "GetTask", "-32009"},
		{"1.0", "1.0.1", "GetTask", "-32009"},
		{"both", "", "tasks/get", "-32001"},
		{"both", "0.3", "tasks/get", "-32001"},
		{"both", "1.0", "GetTask", "-32001"},
		{"both", "", "GetTask", "-32601"},
		{"both", "1.0", "tasks/get", "-32601"},
		{"both", "9.9", "GetTask", "-32009"},
		{"1.0", "1.0", "GetExtendedAgentCard", "-32004"},
		{"both", "", "agent/getAuthenticatedExtendedCard", "-32007"},
		{"2", "", "tasks/get", "-32603"},
	}
	for _, test := range tests {
		converse(t, &Options{Version: test.version}, func(t *testing.T, c *client) {
			c.header.Set("A2A-Version", test.header)
			c.header.Set("A2A-Extensions", ExtensionURI)
			if _, err := c.call(test.method, get); !strings.HasPrefix(err, test.want) {
				t.Errorf("%q: %s with %q: error %q, want %s", test.version, test.method, test.header, err, test.want)
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

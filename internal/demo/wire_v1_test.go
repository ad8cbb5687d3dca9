package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// v1Client switches a client to 1.0.
func v1Client(c *client) *client {
	c.header.Set("A2A-Version", "1.0")
	c.header.Set("A2A-Extensions", ExtensionURI)
	c.header.Del("X-A2A-Extensions")
	return c
}

func messageV1(taskID string, parts ...map[string]any) map[string]any {
	m := map[string]any{"messageId": "u1", "role": "ROLE_USER", "parts": parts}
	if taskID != "" {
		m["taskId"] = taskID
	}
	return map[string]any{"message": m}
}

func textV1(s string) map[string]any { return map[string]any{"text": s} }

// restV1 tells the events of a stream as line does, from their 1.0 spelling.
func restV1(r *reader) []string {
	var lines []string
	for e := r.next(); e != nil; e = r.next() {
		if task := e["task"]; task != nil {
			lines = append(lines, fmt.Sprint("task ", at(task, "status.state")))
			continue
		}
		s := strings.TrimPrefix(at(e, "statusUpdate.status.state").(string), "TASK_STATE_")
		if p, ok := at(e, "statusUpdate.status.message.parts.0").(map[string]any); ok {
			s = told(p, strings.ToLower(s))
		}
		lines = append(lines, s)
	}
	return lines
}

func TestConversationInV1(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []string{"1.0", "both"} {
		converse(t, &Options{Version: version, Workspace: dir}, func(t *testing.T, c *client) {
			v1Client(c)
			expect(t, "asked", restV1(c.open("SendStreamingMessage", messageV1("", textV1("edit "+version)))),
				"task TASK_STATE_SUBMITTED", "WORKING", "thought: Planning an edit", "Edit PENDING?", "INPUT_REQUIRED")
			data := map[string]any{"data": confirmation(c.calls[0], "proceed_once")}
			expect(t, "approved", restV1(c.open("SendStreamingMessage", messageV1(c.taskID, data))),
				"Edit EXECUTING", "Edit SUCCEEDED", `"I wrote "`, fmt.Sprintf("%q", version), `".\n"`, "COMPLETED")
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

			p := messageV1("", textV1("slow"))
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
			lines := restV1(r)
			expect(t, "the end", lines[len(lines)-1:], "CANCELED")
			_, err = c.call("SendMessage", messageV1(id.(string), textV1("hello")))
			expectError(t, err, "-32004")
			if got, _ = c.call("SendMessage", messageV1("", textV1("hello"))); at(got, "task.history.2.parts.0.text") != "Hello from the a2astdio demo agent." {
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
		got := restV1(c.open("SendStreamingMessage", messageV1("", textV1("hello"),
			map[string]any{"raw": "AAEC", "mediaType": "image/png"},
			map[string]any{"url": "file:///a", "filename": "a"},
			map[string]any{"data": []any{1, "two"}})))
		expect(t, "parts", got[2:5], `"I received image/png, 3 bytes.\n"`, `"I received a link to file:///a (a).\n"`, `"I received data: [1,\"two\"]\n"`)
		for _, part := range []map[string]any{{}, {"text": "a", "url": "b"}, {"raw": "*"}, {"kind": "text", "text": "a"}} {
			_, err := c.call("SendMessage", messageV1("", part))
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
		{"2", "", "tasks/get", "-32603"},
	}
	for _, test := range tests {
		converse(t, &Options{Version: test.version}, func(t *testing.T, c *client) {
			c.header.Set("A2A-Version", test.header)
			if _, err := c.call(test.method, get); !strings.HasPrefix(err, test.want) {
				t.Errorf("%q: %s with %q: error %q, want %s", test.version, test.method, test.header, err, test.want)
			}
		})
	}
	for version, want := range map[string][2]any{"": {"0.3.0", nil}, "1.0": {nil, "1.0"}, "both": {"0.3.0", "1.0"}} {
		converse(t, &Options{Version: version}, func(t *testing.T, c *client) {
			resp, err := c.http.Get(PipeURL + ".well-known/agent-card.json")
			if err != nil {
				t.Fatal(err)
			}
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

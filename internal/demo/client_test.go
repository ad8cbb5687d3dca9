package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
)

// A client talks to an agent in a bubble, and knows no more of A2A than a shell
// script would.
type client struct {
	t      *testing.T
	http   *http.Client
	header http.Header
	taskID string           // of the last stream
	calls  []string         // tool calls that asked in the last stream
	seen   []map[string]any // every result
	sent   []map[string]any // every data part
}

// converse runs a conversation in virtual time. That the bubble ends proves that
// no goroutine of the agent is left.
func converse(t *testing.T, opts *Options, talk func(t *testing.T, c *client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := New(opts)
		p := a.Pipe()
		transport := &http.Transport{DialContext: p.DialContext}
		c := &client{t: t, http: &http.Client{Transport: transport}, header: http.Header{}}
		c.header.Set("X-A2A-Extensions", "https://example.com/other, "+ExtensionURI)
		talk(t, c)
		transport.CloseIdleConnections()
		if err := p.Close(); err != nil {
			t.Errorf("closing the pipe: %v", err)
		}
		if err := a.Close(); err != nil {
			t.Errorf("closing the agent: %v", err)
		}
	})
}

// core returns the same client without the extension.
func (c *client) core() *client {
	d := *c
	d.header = c.header.Clone()
	d.header.Del("X-A2A-Extensions")
	d.header.Del("A2A-Extensions")
	return &d
}

func (c *client) post(ctx context.Context, body, accept string) *http.Response {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, PipeURL, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = c.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	resp, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp
}

func envelope(method string, params any) string {
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "r1", "method": method, "params": params})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// call makes a unary call and returns its result, or the error's code and message.
func (c *client) call(method string, params any) (map[string]any, string) {
	c.t.Helper()
	return c.raw(envelope(method, params))
}

func (c *client) raw(body string) (map[string]any, string) {
	c.t.Helper()
	resp := c.post(c.t.Context(), body, "application/json")
	defer resp.Body.Close()
	var answer struct {
		Result map[string]any
		Error  *rpcError
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		c.t.Fatal(err)
	}
	if answer.Error != nil {
		return nil, fmt.Sprintf("%d %s", answer.Error.Code, answer.Error.Message)
	}
	c.seen = append(c.seen, answer.Result)
	return answer.Result, ""
}

// A reader reads the events of one stream.
type reader struct {
	c     *client
	body  io.ReadCloser
	lines *bufio.Reader
}

func (c *client) open(method string, params any) *reader {
	c.t.Helper()
	return c.openContext(c.t.Context(), method, params)
}

func (c *client) openContext(ctx context.Context, method string, params any) *reader {
	c.t.Helper()
	resp := c.post(ctx, envelope(method, params), "text/event-stream")
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		body, _ := io.ReadAll(resp.Body)
		c.t.Fatalf("%s: %s %s", method, got, body)
	}
	c.calls = nil
	return &reader{c: c, body: resp.Body, lines: bufio.NewReader(resp.Body)}
}

// next returns the next event, or nil at the end of the stream.
func (r *reader) next() map[string]any {
	for {
		line, err := r.lines.ReadBytes('\n')
		if err != nil {
			r.body.Close()
			return nil
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var response struct {
			ID     string
			Result map[string]any
		}
		if err := json.Unmarshal(data, &response); err != nil || response.ID != "r1" {
			r.c.t.Fatalf("event %s: %v", data, err)
		}
		r.c.note(response.Result)
		return response.Result
	}
}

func (r *reader) rest() []string {
	var lines []string
	for e := r.next(); e != nil; e = r.next() {
		lines = append(lines, line(e))
	}
	return lines
}

func (c *client) note(result map[string]any) {
	c.seen = append(c.seen, result)
	for _, path := range []string{"id", "taskId", "execution_id", "task.id", "statusUpdate.taskId"} {
		if id, ok := at(result, path).(string); ok {
			c.taskID = id
		}
	}
	for _, path := range []string{"status.message.parts.0.data", "statusUpdate.status.message.parts.0.data"} {
		if at(result, path+".confirmation_request") != nil {
			c.calls = append(c.calls, at(result, path+".tool_call_id").(string))
		}
	}
}

func text(s string) map[string]any { return map[string]any{"kind": "text", "text": s} }

func message03(taskID string, parts ...map[string]any) map[string]any {
	m := map[string]any{"kind": "message", "messageId": "u1", "role": "user", "parts": parts}
	if taskID != "" {
		m["taskId"] = taskID
	}
	return map[string]any{"message": m}
}

// prompt streams a prompt that begins a task, and returns what came.
func (c *client) prompt(words string) []string {
	c.t.Helper()
	return c.open("message/stream", message03("", text(words))).rest()
}

// reply streams a prompt in the task of the last stream.
func (c *client) reply(words string) []string {
	c.t.Helper()
	return c.open("message/stream", message03(c.taskID, text(words))).rest()
}

func confirmation(call, option string) map[string]any {
	return map[string]any{"tool_call_id": call, "selected_option_id": option}
}

func (c *client) data(object map[string]any) map[string]any {
	c.sent = append(c.sent, object)
	return map[string]any{"kind": "data", "data": object}
}

// confirm answers every call of the last stream.
func (c *client) confirm(option string) []string {
	c.t.Helper()
	var parts []map[string]any
	for _, call := range c.calls {
		parts = append(parts, c.data(confirmation(call, option)))
	}
	return c.open("message/stream", message03(c.taskID, parts...)).rest()
}

// inWorkspace is a prompt with settings.
func inWorkspace(words, path string) map[string]any {
	p := message03("", text(words))
	p["message"].(map[string]any)["metadata"] = map[string]any{ExtensionURI: map[string]any{"workspace_path": path}}
	return p
}

// at returns what is at a path of a JSON value, or nil.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch w := v.(type) {
		case map[string]any:
			v = w[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(w) {
				return nil
			}
			v = w[i]
		default:
			return nil
		}
	}
	return v
}

// line tells a 0.3 event in one line.
func line(e map[string]any) string {
	if status, ok := e["execution_id"]; ok {
		_ = status
		return fmt.Sprint("response ", e["status"])
	}
	if e["kind"] == "task" {
		return fmt.Sprint("task ", at(e, "status.state"))
	}
	s := fmt.Sprint(at(e, "status.state"))
	if p, ok := at(e, "status.message.parts.0").(map[string]any); ok {
		s = told(p, s)
	}
	if e["final"] == true {
		s += " (final)"
	}
	return s
}

func told(part map[string]any, state string) string {
	if state == "working" {
		state = ""
	} else {
		state += ": "
	}
	switch d, _ := part["data"].(map[string]any); {
	case d["tool_call_id"] != nil:
		s := fmt.Sprint(d["tool_name"], " ", d["status"])
		if d["confirmation_request"] != nil {
			s += "?"
		}
		if live, ok := d["live_content"].(string); ok {
			s += fmt.Sprintf(" %q", live)
		}
		return state + s
	case d["subject"] != nil:
		return state + fmt.Sprint("thought: ", d["subject"])
	}
	return state + fmt.Sprintf("%q", part["text"])
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got  %s\n want %s", what, strings.Join(got, "\n      "), strings.Join(want, "\n      "))
	}
}

func expectError(t *testing.T, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) || want == "" {
		t.Errorf("error %q, want %q in it", got, want)
	}
}

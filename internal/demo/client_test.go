package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/a2astdio/a2astdio/internal/pipenet"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A client talks to an agent in a bubble, and knows no more of A2A than a shell
// script would.
type client struct {
	t         *testing.T
	agent     *Agent
	http      *http.Client
	header    http.Header
	dir       string   // workspace_path of the first messages
	taskID    string   // of the last stream
	contextID string   // of it
	calls     []string // tool calls that asked in the last stream
	v1        bool
	seen      []map[string]any // every result
	ran       []string         // what the agent did, as it reports
}

// converse runs a conversation in virtual time. That the bubble ends proves that
// no goroutine of the agent is left.
func converse(t *testing.T, opts *Options, talk func(t *testing.T, c *client)) {
	t.Helper()
	converseIn(t, t.TempDir(), opts, talk)
}

// converseIn is converse with a client in a directory.
func converseIn(t *testing.T, dir string, opts *Options, talk func(t *testing.T, c *client)) {
	t.Helper()
	if opts == nil {
		opts = &Options{}
	}
	synctest.Test(t, func(t *testing.T) {
		c := &client{t: t, header: http.Header{}, dir: dir}
		a := New(opts)
		network, end := pipenet.Serve(a)
		transport := &http.Transport{DialContext: network.Dial}
		c.agent, c.http = a, &http.Client{Transport: transport}
		c.header.Set("X-A2A-Extensions", "https://example.com/other, "+ExtensionURI)
		defer func() { // also after a Fatal
			transport.CloseIdleConnections()
			if err := end(); err != nil {
				t.Errorf("closing the network: %v", err)
			}
			if err := a.Close(); err != nil {
				t.Errorf("closing the agent: %v", err)
			}
		}()
		talk(t, c)
	})
}

// inEachVersion is converse in both versions of A2A. Events are told alike; what
// differs is how messages and methods are written, and the client does that.
func inEachVersion(t *testing.T, talk func(t *testing.T, c *client)) {
	for _, version := range []string{"0.3", "1.0"} {
		t.Run(version, func(t *testing.T) {
			converse(t, nil, func(t *testing.T, c *client) {
				if version == "1.0" {
					v1Client(c)
				}
				talk(t, c)
			})
		})
	}
}

// as returns the same client with other extensions.
func (c *client) as(extensions string) *client {
	d := &client{t: c.t, agent: c.agent, http: c.http, header: c.header.Clone(), v1: c.v1, contextID: c.contextID, dir: c.dir}
	for _, name := range []string{"X-A2A-Extensions", "A2A-Extensions"} {
		d.header.Set(name, extensions)
	}
	return d
}

func (c *client) post(ctx context.Context, body, accept string) *http.Response {
	c.t.Helper()
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, URL, strings.NewReader(body)))(c.t)
	r.Header = c.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	return must.Get(c.http.Do(r))(c.t)
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
	if c.v1 {
		method = v1Name(method)
	}
	return c.raw(envelope(method, params))
}

// refused expects that a message is answered with an error that has all these words.
func (c *client) refused(params map[string]any, words ...string) {
	c.t.Helper()
	_, err := c.call("message/stream", params)
	for _, word := range words {
		expectError(c.t, err, word)
	}
}

func (c *client) raw(body string) (map[string]any, string) {
	c.t.Helper()
	resp := c.post(c.t.Context(), body, "application/json")
	defer resp.Body.Close()
	var answer struct {
		Result map[string]any
		Error  *rpcError
	}
	must.Do(c.t, json.NewDecoder(resp.Body).Decode(&answer))
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
	if c.v1 {
		method = v1Name(method)
	}
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
		if r.c.v1 {
			e = asV03(e)
		}
		lines = append(lines, line(e))
	}
	return lines
}

// state asks for the task's state.
func (c *client) state() string {
	c.t.Helper()
	got, err := c.call("tasks/get", map[string]any{"id": c.taskID})
	if err != "" {
		c.t.Fatal(err)
	}
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(at(got, "status.state").(string), "TASK_STATE_"), "_", "-"))
}

func (c *client) note(result map[string]any) {
	c.seen = append(c.seen, result)
	for _, path := range []string{"id", "taskId", "execution_id", "task.id", "statusUpdate.taskId"} {
		if id, ok := at(result, path).(string); ok {
			c.taskID = id
		}
	}
	for _, path := range []string{"contextId", "task.contextId", "statusUpdate.contextId"} {
		if id, ok := at(result, path).(string); ok {
			c.contextID = id
		}
	}
	for _, path := range []string{"status.message.parts.0.text", "statusUpdate.status.message.parts.0.text"} {
		if text, _ := at(result, path).(string); strings.HasPrefix(text, "ran: ") && text != "ran: nothing\n" {
			c.ran = append(c.ran, strings.TrimSpace(text))
		}
	}
	for _, path := range []string{"status.message.parts.0.data", "statusUpdate.status.message.parts.0.data"} {
		data, _ := at(result, path).(map[string]any)
		if data["confirmation_request"] != nil {
			c.calls = append(c.calls, data["tool_call_id"].(string))
		}
	}
}

func text(s string) map[string]any { return map[string]any{"kind": "text", "text": s} }

// message begins a session, or goes to a task.
func (c *client) message(taskID string, parts ...map[string]any) map[string]any {
	if c.v1 {
		return c.messageV1(taskID, withoutKind(parts)...)
	}
	return c.address(taskID, map[string]any{"kind": "message", "messageId": "u1", "role": "user", "parts": parts})
}

// address gives a message what every legal one has: AgentSettings, or the IDs of
// what it answers.
func (c *client) address(taskID string, m map[string]any) map[string]any {
	if taskID != "" {
		m["taskId"], m["contextId"] = taskID, c.contextID
	} else {
		m["metadata"] = c.settings()
	}
	return map[string]any{"message": m}
}

func (c *client) settings() map[string]any {
	return map[string]any{ExtensionURI: map[string]any{"workspace_path": c.dir}}
}

// prompt streams a prompt that begins a task, and returns what came.
func (c *client) prompt(words string) []string {
	c.t.Helper()
	return c.open("message/stream", c.message("", text(words))).rest()
}

// reply streams a prompt in the task of the last stream.
func (c *client) reply(words string) []string {
	c.t.Helper()
	return c.open("message/stream", c.message(c.taskID, text(words))).rest()
}

func confirmation(call, option string) map[string]any {
	return map[string]any{"tool_call_id": call, "selected_option_id": option}
}

func data(object any) map[string]any { return map[string]any{"kind": "data", "data": object} }

// confirm answers every call of the last stream.
func (c *client) confirm(option string) []string {
	c.t.Helper()
	return c.open("message/stream", c.message(c.taskID, c.answers(option)...)).rest()
}

func (c *client) answers(option string) []map[string]any {
	var parts []map[string]any
	for _, call := range c.calls {
		parts = append(parts, data(confirmation(call, option)))
	}
	return parts
}

// with sets a member of a message.
func with(params map[string]any, name string, value any) map[string]any {
	params["message"].(map[string]any)[name] = value
	return params
}

// inWorkspace is a prompt with settings.
func (c *client) inWorkspace(words string, settings any) map[string]any {
	return with(c.message("", text(words)), "metadata", map[string]any{ExtensionURI: settings})
}

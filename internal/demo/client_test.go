package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
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
	dir       string // workspace_path of the first messages
	v1        bool
	taskID    string   // of the last stream
	contextID string   // of it
	calls     []string // tool calls that have asked in it
	asked     []string // before it
	seen      []any    // every result
	half      *reader  // a stream that is read later
}

// converse runs a conversation in virtual time, in a version of A2A. That the bubble ends
// proves that no goroutine of the agent is left.
func converse(t *testing.T, version string, opts *Options, talk func(t *testing.T, c *client)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a := New(opts)
		network, end := pipenet.Serve(a)
		transport := &http.Transport{DialContext: network.Dial}
		c := &client{t: t, agent: a, http: &http.Client{Transport: transport}, header: http.Header{}, dir: dir, v1: version == "1.0"}
		c.header.Set(wire{c.v1}.extensionsHeader(), "https://example.com/other, "+ExtensionURI)
		if c.v1 {
			c.header.Set("A2A-Version", version)
		}
		defer func() { // also after a Fatal
			transport.CloseIdleConnections()
			must.Fail(t, end(), "", "closing the network")
			must.Fail(t, a.Close(), "", "closing the agent")
		}()
		talk(t, c)
	})
}

func (c *client) post(ctx context.Context, body, accept string) *http.Response {
	c.t.Helper()
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, URL, strings.NewReader(body)))(c.t)
	r.Header = c.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	return must.Get(c.http.Do(r))(c.t)
}

// request is one, by the method's name in 0.3.
func (c *client) request(method string, params any) string {
	if c.v1 {
		for _, m := range methods {
			if m.v03 == method {
				method = m.v1
			}
		}
	}
	return string(must.Get(json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "r1", "method": method, "params": params}))(c.t))
}

// call makes a unary call and returns its result, or the error's code and message.
func (c *client) call(method string, params any) (any, string) {
	c.t.Helper()
	return c.raw(c.request(method, params))
}

func (c *client) raw(body string) (any, string) {
	c.t.Helper()
	resp := c.post(c.t.Context(), body, "application/json")
	defer resp.Body.Close()
	var answer struct {
		Result any
		Error  *rpcError
	}
	must.Do(c.t, json.NewDecoder(resp.Body).Decode(&answer))
	if answer.Error != nil {
		message, _, _ := strings.Cut(answer.Error.Message, " into Go value") // what is behind tells of our types
		return nil, fmt.Sprintf("%d %s", answer.Error.Code, message)
	}
	c.note(answer.Result)
	return answer.Result, ""
}

// A reader reads the events of one stream, or the error in its place.
type reader struct {
	c     *client
	body  io.ReadCloser
	lines *bufio.Reader
	err   string
}

func (c *client) open(ctx context.Context, method string, params any) *reader {
	c.t.Helper()
	body := c.request(method, params)
	resp := c.post(ctx, body, "text/event-stream")
	r := &reader{c: c, body: resp.Body, lines: bufio.NewReader(resp.Body)}
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		_, r.err = c.raw(body) // refused again
	}
	return r
}

// next returns the next event, or nil at the end of the stream.
func (r *reader) next() any {
	for {
		line, err := r.lines.ReadBytes('\n')
		if err != nil || r.err != "" {
			r.body.Close()
			return nil
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var response struct {
			ID     string
			Result any
		}
		if err := json.Unmarshal(data, &response); err != nil || response.ID != "r1" {
			r.c.t.Fatalf("event %s: %v", data, err)
		}
		r.c.note(response.Result)
		return response.Result
	}
}

// read tells the next n events.
func (r *reader) read(n int) (lines []string) {
	if r.err != "" {
		return []string{"= " + r.err}
	}
	for e := r.next(); e != nil; e = r.next() {
		if lines = append(lines, line(e)); len(lines) == n {
			break
		}
	}
	return lines
}

// rest tells the events up to the end.
func (r *reader) rest() []string { return r.read(-1) }

// note learns the IDs in a result.
func (c *client) note(result any) {
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
	for _, path := range []string{"status.message.parts.0.data", "statusUpdate.status.message.parts.0.data", "history.1.parts.0.data"} {
		if data := at(result, path); at(data, "confirmation_request") != nil {
			c.calls = append(c.calls, at(data, "tool_call_id").(string))
		}
	}
}

// asking are the calls that asked last.
func (c *client) asking() []string {
	if len(c.calls) > 0 {
		return c.calls
	}
	return c.asked
}

// first is the first of them.
func (c *client) first() string { return append(c.asking(), "none")[0] }

// message is one with these members, which are written as in 1.0, and else right: it begins
// a session, or answers a call of the task.
func (c *client) message(toTask bool, members string) map[string]any {
	c.t.Helper()
	right := fmt.Sprintf(`{"parts":[{"text":"hello"}],"metadata":{%q:{"workspace_path":%q}}}`, ExtensionURI, c.dir)
	if toTask {
		right = fmt.Sprintf(`{"parts":[%s],"taskId":%q,"contextId":%q}`, answerTo("proceed_once", c.first()), c.taskID, c.contextID)
	}
	m := map[string]any{"messageId": "u1", "role": "ROLE_USER"}
	must.Do(c.t, json.Unmarshal([]byte(right), &m))
	var others map[string]any
	must.Do(c.t, json.Unmarshal([]byte(members), &others))
	maps.Copy(m, others)
	if !c.v1 {
		m["kind"], m["role"] = "message", "user"
		parts, _ := m["parts"].([]any)
		for i, p := range parts {
			p := p.(map[string]any)
			if raw := p["raw"]; raw != nil {
				parts[i] = map[string]any{"kind": "file", "file": map[string]any{"bytes": raw}}
			}
			for _, kind := range []string{"text", "data"} {
				if p[kind] != nil {
					p["kind"] = kind
				}
			}
		}
	}
	return map[string]any{"message": m}
}

// says are a message's members: a text.
func says(words string) string { return `{"parts":[{"text":` + strconv.Quote(words) + `}]}` }

// answerTo is the part of a message that answers a call.
func answerTo(option, call string) string {
	return fmt.Sprintf(`{"data":{"tool_call_id":%q,"selected_option_id":%q}}`, call, option)
}

// answers are a message's members: an answer to each of these calls.
func answers(option string, calls ...string) string {
	var parts []string
	for _, call := range calls {
		parts = append(parts, answerTo(option, call))
	}
	return `{"parts":[` + strings.Join(parts, ",") + `]}`
}

// stream sends a message.
func (c *client) stream(toTask bool, members string) *reader {
	c.t.Helper()
	params := c.message(toTask, members)
	c.calls, c.asked = nil, c.asking()
	return c.open(c.t.Context(), "message/stream", params)
}
